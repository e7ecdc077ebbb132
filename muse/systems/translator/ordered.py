"""Attention in order: a model that translates word by word before it has learned anything.

Which word of the source each word of a translation stands for is what a Transformer is slow to learn, and
where both lookup tables are aligned little else is missing: the row of what it attends to is close to that of
the translation. Here the last dimensions, as many as a head has, are those of the positions alone, and the
others those of the pieces. In the decoder's last layer every head compares positions and copies pieces.
The decoder's positions are the encoder's, one further: piece i is predicted where piece i - 1 is read. All
this is where training begins; every parameter is then learned.
"""

from __future__ import annotations

import torch

from muse.systems.translator.network import TranslatorNetwork

POSITIONS = 2.0  # how large positions are beside pieces
SHARPNESS = 2.0  # of attention, squared in the product of queries and keys
COPIED = 4.0  # how large what is copied is beside the decoder's own state
GAIN = 4.0  # of the last norm, so that rows count for more than the frequencies of pieces
BIAS = 0.2  # of the logarithms of the counts


@torch.no_grad()
def attend_in_order(network: TranslatorNetwork) -> None:
    """Sets the parameters of a network before training; encoder and decoder have rows of one space."""
    hidden, heads = network.config.hidden, network.config.heads
    of_pieces = torch.arange(hidden) < hidden - hidden // heads  # (h,)
    encoder, decoder = (part.state_dict() for part in (network.encoder, network.decoder))  # not copies
    for part in (encoder, decoder):
        rows = part["table._rows"]  # (v, h)
        spread = float(rows.square().mean().sqrt())
        rows[:, ~of_pieces] = 0.0
        rows *= spread / float(rows[:, of_pieces].square().mean().sqrt())
        part["_positions"][:, of_pieces] = 0.0
        part["_languages"].zero_()
    encoder["_positions"] *= POSITIONS
    decoder["_positions"][:-1] = encoder["_positions"][1:]
    positions = torch.eye(hidden)[~of_pieces].repeat(heads, 1)  # (h, h), the same for every head
    copied = torch.diag(of_pieces.float())
    layer = network.decoder.layers[-1]
    layer.multihead_attn.in_proj_weight.copy_(
        torch.cat([SHARPNESS * positions, SHARPNESS * positions, copied])
    )
    layer.multihead_attn.out_proj.weight.copy_(COPIED * torch.eye(hidden))
    layer.norm3.weight.fill_(GAIN)
    network.bias.mul_(BIAS)
