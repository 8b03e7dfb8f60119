"""The functions `prefill` and `step` that tinymlir-gpt2 emits, as text that other compilers of MLIR take.

Attributes of tinymlir's are dropped, and checks of token ids with them; nothing else is changed but where a peer says so.
"""

import os
import re
import subprocess

import model


def tool(name):
    folder = os.environ.get("TINYMLIR_TOOLS_DIR", os.path.join(os.path.dirname(__file__), "../../../target/release"))
    return os.path.join(folder, name)


def functions(tokens):
    """A function's text by name, for prompts of `tokens` tokens; logits are returned."""
    command = [tool("tinymlir-gpt2"), "emit", "prefill", "step", "--model", "random:124M", "--tokens", str(tokens), "--logits"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^  func\.func @(\w+)\((.*?)^  \}\n", text, flags=re.S | re.M)
    return {name: plain(f"  func.func @{name}({body}  }}\n") for name, body in found}


def plain(text):
    text = re.sub(r" \{tinymlir\.[^{}]*\}", "", text)
    return re.sub(r"^ *cf\.assert .*\n", "", text, flags=re.M)


def arguments(function):
    """Names and types of a function's arguments."""
    head = function[: function.index(") -> ")]
    return re.findall(r"%([\w.]+): ([^,\n]+?)(?=,?\n)", head)


def results(function):
    """The values that a function returns, and their types."""
    values, types = re.search(r"^    return (.*?) : (.*)$", function, flags=re.M).groups()
    return values.split(", "), re.findall(r"tensor<[^>]*>", types)


def shape(ty):
    *sizes, element = ty[len("tensor<") : -1].split("x")
    return tuple(map(int, sizes)), element


def prompt(tokens, length):
    """Token ids, padded to the number that the function takes."""
    ids = model.prompt(length)
    return ids + [0] * (tokens - length)
