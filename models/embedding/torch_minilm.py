"""MiniLM in torch, in the form that is exported to ONNX. Imported only for the export."""

from pathlib import Path

import torch
from safetensors.torch import load_file
from transformers import BertConfig, BertModel


class MiniLM(torch.nn.Module):
    """The encoder, the mean over its tokens, and normalisation to unit length."""

    def __init__(self, encoder: BertModel) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids: torch.Tensor) -> torch.Tensor:
        """Encode texts of equal length in tokens.

        Args:
            input_ids: shape (batch, tokens), no padding.

        Returns:
            Unit vectors, shape (batch, d).
        """
        states = self.encoder(input_ids=input_ids).last_hidden_state
        # A product with ones, not mean(): onnxruntime sums over an axis in an order that depends on
        # the batch's size, and a text's vector must not depend on the texts beside it. The mean's
        # divisor is left out: normalisation cancels it.
        ones = torch.ones_like(states[:, :, 0]).unsqueeze(1)
        return torch.nn.functional.normalize(torch.matmul(ones, states).squeeze(1), p=2.0, dim=1)


def load_minilm(config: Path, weights: Path) -> MiniLM:
    """Build the model from its files; nothing is looked up elsewhere."""
    encoder = BertModel(BertConfig.from_json_file(str(config)))
    encoder.set_attn_implementation("eager")  # exports to half the nodes of the fused attention
    tensors = load_file(weights)
    del tensors["embeddings.position_ids"]  # 0, 1, 2, ...: a constant that newer versions compute
    encoder.load_state_dict(tensors)
    return MiniLM(encoder).eval()


def write_onnx(minilm: MiniLM, onnx_file: Path) -> None:
    """Write the model as an ONNX graph from `input_ids` to `vectors`; see `MiniLM.forward`."""
    torch.onnx.export(
        minilm,
        (torch.ones((2, 7), dtype=torch.int64),),
        onnx_file,
        input_names=["input_ids"],
        output_names=["vectors"],
        dynamic_shapes=({0: torch.export.Dim("batch"), 1: torch.export.Dim("tokens", max=512)},),
        dynamo=True,
        external_data=True,  # weights beside the graph are mapped, not read and copied
        verbose=False,
    )
