# --progress of the tools that read data shows a line, which a terminal of
# eight columns does not break.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
pets 1 6 >pets.dls
slow='pipe:sleep 1.2; cat pets.dls'
shown() { tr '\r' '\n' | sed 's/\x1b\[K//g' | grep -v '^$' | sort -u; }
for tool in dl-infer dl-eval; do
  $tool --model "$models/pets.safetensors" --progress "$slow" 2>&1 >/dev/null | shown
done
dl-shard -o x --progress "$slow" 2>&1 >/dev/null | shown
cat >narrow.py <<'PY'
import fcntl, os, pty, struct, sys, termios
pid, terminal = pty.fork()
if pid == 0:
    fcntl.ioctl(2, termios.TIOCSWINSZ, struct.pack("4H", 24, 8, 0, 0))
    os.dup2(os.open("product", os.O_WRONLY | os.O_CREAT), 1)
    os.execvp(sys.argv[1], sys.argv[1:])
text = b""
while True:
    try:
        piece = os.read(terminal, 4096)
    except OSError:
        break
    if not piece:
        break
    text += piece
sys.stdout.buffer.write(text)
PY
python3 narrow.py dl-infer --model "$models/pets.safetensors" "$slow" | shown
dl-infer --model "$models/pets.safetensors" -q --progress-json "$slow" 2>&1 >/dev/null | sort -u
