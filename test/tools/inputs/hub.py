"""A model hub for tools/fetch-model: serve a tiny GPT-2 as the Hugging Face hub does, and run a command with its address.

usage: hub.py FAULT COMMAND ARGUMENTS...

`{}` in the arguments becomes the address. FAULT is what goes wrong: `none`; `breaks` (the first transfer of the weights
stops half way); `wrong` (a byte of the weights differs); `shape` (a tensor has a wrong shape).
"""

import hashlib
import json
import struct
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

fault, command = sys.argv[1], sys.argv[2:]

shapes = {"wte.weight": [5, 4], "wpe.weight": [3, 4], "ln_f.weight": [4], "ln_f.bias": [4]}
for name, shape in {
    "ln_1": [4], "attn.c_attn": [4, 12], "attn.c_proj": [4, 4], "ln_2": [4], "mlp.c_fc": [4, 16], "mlp.c_proj": [16, 4]
}.items():
    shapes[f"h.0.{name}.weight"], shapes[f"h.0.{name}.bias"] = shape, shape[-1:]
if fault == "shape":
    shapes["h.0.mlp.c_fc.weight"] = [16, 4]
header, at = {}, 0
for name, shape in shapes.items():
    size = 4
    for extent in shape:
        size *= extent
    header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [at, at + size]}
    at += size
text = json.dumps(header).encode()
weights = struct.pack("<Q", len(text)) + text + bytes(at)
config = json.dumps({"n_embd": 4, "n_layer": 1, "n_positions": 3, "vocab_size": 5}).encode()
files = {"config.json": config, "tokenizer.json": b"{}", "vocab.json": b"{}", "merges.txt": b"", "model.safetensors": weights}
broken = threading.Event()


class Hub(BaseHTTPRequestHandler):
    def answer(self, send_body):
        name = self.path.rsplit("/", 1)[-1]
        body, large = files[name], name == "model.safetensors"
        if large and "/resolve/" in self.path:
            self.send_response(302)
            self.send_header("Location", f"/store/{name}")
            self.send_header("X-Linked-Etag", f'"{hashlib.sha256(body).hexdigest()}"')
            self.send_header("X-Linked-Size", str(len(body)))
            self.end_headers()
            return
        begin = 0
        if "Range" in self.headers:
            begin = int(self.headers["Range"].removeprefix("bytes=").removesuffix("-"))
            print(f"asked for the bytes from {begin} of {name}", flush=True)
        self.send_response(206 if begin else 200)
        self.send_header("ETag", '"' + hashlib.sha1(b"blob %d\0" % len(body) + body).hexdigest() + '"')
        self.send_header("Content-Length", str(len(body) - begin))
        self.end_headers()
        if not send_body:
            return
        if large and fault == "wrong":
            body = body[:-1] + b"\1"
        if large and fault == "breaks" and not broken.is_set():
            broken.set()
            body = body[:1000]
        self.wfile.write(body[begin:])

    def do_GET(self):
        self.answer(True)

    def do_HEAD(self):
        self.answer(False)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
threading.Thread(target=server.serve_forever, daemon=True).start()
address = f"http://127.0.0.1:{server.server_port}"
sys.exit(subprocess.run([argument.replace("{}", address) for argument in command]).returncode)
