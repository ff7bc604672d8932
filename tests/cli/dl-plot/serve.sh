#!/bin/bash
# Pages of growing runs by HTTP: an event after a new epoch, and who is refused.
mkdir runs runs/a.run runs/b.run
python3 - <<'PYTHON'
import http.client, json, re, socket, subprocess, urllib.parse

def epoch(run, number):
    with open(f"runs/{run}.run/events.jsonl", "a") as file:
        file.write(json.dumps({"event": "epoch", "epoch": number, "loss": 1 / (1 + number),
                               "mono": number, "incarnation": 1}) + "\n")

def serve(*words):
    server = subprocess.Popen(["dl-plot", *words], stdout=subprocess.PIPE, text=True)
    return server, server.stdout.readline().strip()

def ask(url, target="", method="GET", body=None, **headers):
    where = urllib.parse.urlparse(url)
    line = http.client.HTTPConnection("127.0.0.1", where.port, timeout=60)
    line.request(method, where.path + target, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = line.getresponse()
    return answer, "" if answer.getheader("Content-Type") == "text/event-stream" else answer.read().decode()

def status(*words, **headers):
    return ask(*words, **headers)[0].status

def next_state(events):
    for line in events:
        if line.startswith(b"data: "):
            return line[6:].decode().strip()

for run in "ab":
    epoch(run, 0)
server, url = serve("--serve", "0", "runs")
assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", url), url
listed, text = ask(url)
assert listed.status == 200 and 'href="run?name=a"' in text and 'href="run?name=b"' in text
assert "default-src 'none'" in listed.getheader("Content-Security-Policy")
page = ask(url, "run?name=a")[1]
assert "<dt>Epochs</dt><dd>1</dd>" in page
assert "Differences of settings" in ask(url, "run?name=a&name=b")[1]
print("pages: ok")

events, _ = ask(url, "events?name=a")
assert f'data-state="{next_state(events)}"' in page
epoch("a", 1)
state = next_state(events)
page = ask(url, "run?name=a")[1]
assert f'data-state="{state}"' in page and "<dt>Epochs</dt><dd>2</dd>" in page
print("an event after an epoch: ok")

for headers in [{"Host": "evil.example"}, {"Host": f"evil.example:{urllib.parse.urlparse(url).port}"},
                {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec_Fetch_Site": "cross-site"},
                {"Sec_Fetch_Site": "same-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"}]:
    for target in ["", "run?name=a", "events?name=a"]:
        assert status(url, target, **headers) == 403, (headers, target)
print("other origins: refused")
for method in ["POST", "PUT", "DELETE", "OPTIONS"]:
    assert status(url, "", method) == 405, method
assert status(url, "", "HEAD") == 200 and ask(url, "", "HEAD")[1] == ""
for target in ["nothing", "run?name=c", "run", "../runs/a.run/events.jsonl", "run/../run?name=a", "events?name=c"]:
    assert status(url, target) == 404, target
print("other methods and pages: refused")
for bytes in [b"\0\1\2\3\r\n\r\n", b"GET / HTTP/1.1\r\n" + b"X: " + b"x" * 100000 + b"\r\n\r\n",
              b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello"]:
    with socket.create_connection(("127.0.0.1", urllib.parse.urlparse(url).port), timeout=60) as line:
        try:
            line.sendall(bytes)
            heard = line.recv(4096)
        except ConnectionError:
            heard = b""
        assert not heard.startswith(b"HTTP/1.1 200"), bytes[:20]
assert status(url) == 200
print("nonsense: refused")
taken = subprocess.run(["dl-plot", "--serve", url.split("/")[2], "runs"], capture_output=True, text=True)
assert taken.returncode == 69 and "Address already in use" in taken.stderr, taken
events, _ = ask(url, "events?name=a")
next_state(events)
epoch("a", 2)
server.terminate()
while (line := events.readline()) != b"event: end\n":
    assert line, "no last event"
state = next_state(events)
page = ask(url, "run?name=a")[1]
assert f'data-state="{state}"' in page and "<dt>Epochs</dt><dd>3</dd>" in page
events.close()
assert server.wait() == -15
print("the last page: after the last event")

server, url = serve("--serve", "0.0.0.0:0", "runs/a.run")
assert re.fullmatch(r"http://[^/]+:\d+/[0-9a-f]{32}/", url), url
assert "<dt>Epochs</dt><dd>3</dd>" in ask(url)[1]
assert status(url, Host="host.example") == 200
wrong = url[:-2] + ("0" if url[-2] != "0" else "1") + "/"
for other in [wrong, url[:-33], url[:-1]]:
    assert status(other) == 403, other
print("a token: wanted")
server.terminate()
server.wait()
PYTHON
find runs | LC_ALL=C sort
for args in "--serve x runs" "--serve 0" "--serve 0 nothing" "--serve 0 runs -o x.html"; do
  eval "dl-plot $args"
  echo "status $?"
done
