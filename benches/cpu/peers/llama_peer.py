"""GPT-2 in llama.cpp, through its C API: a GGUF file of the same weights in f32, and a cache in f32."""

import ctypes
import os

import gguf
import llama_cpp
import model
import numpy as np

NAMES = {
    "ln_1": "attn_norm", "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output", "ln_2": "ffn_norm", "mlp.c_fc": "ffn_up",
    "mlp.c_proj": "ffn_down",
}


def write(path, weights):
    writer = gguf.GGUFWriter(path + ".part", "gpt2")
    writer.add_context_length(model.CONTEXT)
    writer.add_embedding_length(model.WIDTH)
    writer.add_feed_forward_length(4 * model.WIDTH)
    writer.add_block_count(model.LAYERS)
    writer.add_head_count(model.HEADS)
    writer.add_layer_norm_eps(model.EPSILON)
    writer.add_vocab_size(model.VOCABULARY)
    writer.add_tokenizer_model("none")
    for name, array in weights.items():
        key, _, part = name.rpartition(".")
        if key.startswith("h."):
            _, layer, rest = key.split(".", 2)
            target = f"blk.{layer}.{NAMES[rest]}"
        else:
            target = {"wte": "token_embd", "wpe": "position_embd", "ln_f": "output_norm"}[key]
        # llama.cpp holds matrices with a row for each output.
        matrix = array.ndim == 2 and key.startswith("h.")
        writer.add_tensor(f"{target}.{part}", np.ascontiguousarray(array.T) if matrix else np.array(array))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    os.replace(path + ".part", path)


class Peer:
    title = f"llama.cpp (llama-cpp-python {llama_cpp.__version__})"

    def __init__(self, folder):
        weights, source = model.weights(folder)
        path = source.removesuffix(".safetensors") + ".gguf"
        if not os.path.exists(path):
            write(path, weights)
        llama_cpp.llama_backend_init()
        self.model = llama_cpp.llama_model_load_from_file(path.encode(), llama_cpp.llama_model_default_params())
        if not self.model:
            raise RuntimeError(f"llama.cpp cannot load {path}")
        threads = len(os.sched_getaffinity(0))
        params = llama_cpp.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = model.CONTEXT, model.CONTEXT, 512
        params.n_threads, params.n_threads_batch = threads, threads
        params.type_k, params.type_v = 0, 0  # GGML_TYPE_F32
        self.context = llama_cpp.llama_init_from_model(self.model, params)
        self.memory = llama_cpp.llama_get_memory(self.context)
        self.batch = llama_cpp.llama_batch_init(model.CONTEXT, 0, 1)

    def run(self, ids, start):
        llama_cpp.llama_memory_seq_rm(self.memory, 0, start, -1)
        batch = self.batch
        batch.n_tokens = len(ids)
        for i, token in enumerate(ids):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, start + i, 1, i == len(ids) - 1
            batch.seq_id[i][0] = 0
        if llama_cpp.llama_decode(self.context, batch) != 0:
            raise RuntimeError("llama_decode failed")
        logits = llama_cpp.llama_get_logits_ith(self.context, len(ids) - 1)
        return np.ctypeslib.as_array(ctypes.cast(logits, ctypes.POINTER(ctypes.c_float)), (model.VOCABULARY,))

    def prefill(self, ids):
        return self.run(ids, 0)

    fill = prefill

    def decode(self, token, position):
        return self.run([token], position)
