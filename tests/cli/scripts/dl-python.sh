# The part of dl_tools that needs no NumPy: running of tools, their output, errors and progress.
export PYTHONPATH=$DL_TEST_ROOT/scripts/share/python/dl_tools PYTHONDONTWRITEBYTECODE=1
python3 - <<'PYTHON'
import os, pickle
import tools
said = []
stream = tools.run("dl-preprocess", "csv", "-q", "--label", 2, "--classes", 2, input=b"1.5,0\n2.5,1\n", said=said.append)
info = tools.run("dl-shard", "--info", "--json", input=iter([stream[:10], stream[10:]])).json()
print(info["examples"] if isinstance(info, dict) else info, said)
for words in (["dl-shard", "--verify", "nothing.dls"], ["dl-shard", "--bogus"], ["dl-no-such-tool"]):
    try:
        tools.run(*words, said=said.append)
    except tools.ToolError as error:
        error = pickle.loads(pickle.dumps(error))
        print(error.tool, error.status, error)
os.environ["DL_TOOLS_BIN"] = "/nowhere"
try:
    tools.run("dl-shard")
except tools.ToolError as error:
    print(error.status, error)
print(tools._report('{"progress":{"text":"6 examples"}}'), tools._report('{"progress":'), tools._report("dl-shard: x"))
PYTHON
