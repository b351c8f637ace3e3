"""Writes torch_step.json: a small attention model in PyTorch, its scores on a few bags, and its gradients.

    python3 make_torch_step.py > torch_step.json

With `--paper DIR` it writes instead the files for the same check on the paper's networks: bags as npy, weights as
safetensors under fcam's names, and expected.json with scores, attention and gradients.
"""
import json
import struct
import sys

import torch
from torch import nn

LOSSES = ("sa", "ha", "lv")


def sizes(shape, filters, units, bias, outputs):
    """Conv 3x3 and ReLU per entry of filters, pooling after all but the last, then fully connected layers."""
    channels, side = shape[0], shape[1]
    layers = []
    for i, count in enumerate(filters):
        layers += [nn.Conv2d(channels, count, 3, bias=bias), nn.ReLU()]
        channels, side = count, side - 2
        if i + 1 < len(filters):
            layers.append(nn.MaxPool2d(2))
            side //= 2
    layers.append(nn.Flatten())
    width = channels * side * side
    for count in units:
        layers += [nn.Linear(width, count, bias=bias), nn.ReLU()]
        width = count
    layers.append(nn.Linear(width, outputs, bias=bias))
    return nn.Sequential(*layers)


def names(role, net):
    """fcam's names of the parameters of a Sequential, numbered per kind."""
    counts = {}
    for layer in net:
        kind = {nn.Conv2d: "conv", nn.Linear: "fc"}.get(type(layer))
        if kind is None:
            continue
        counts[kind] = counts.get(kind, 0) + 1
        for what, value in layer.named_parameters():
            yield f"{role}.{kind}{counts[kind]}.{what}", value


def parts(f, g, x, y):
    bags, m = x.shape[:2]
    patches = x.reshape(bags * m, *x.shape[2:])
    scores = f(patches).reshape(bags, m)
    a = scores.softmax(1)
    weights = a.reshape(bags, m, *([1] * (x.dim() - 2)))
    soft_logits = g((weights * x).sum(1))
    logits = g(patches).reshape(bags, m, -1)
    log_p = logits.log_softmax(2)
    log_py = log_p.gather(2, y.reshape(-1, 1, 1).expand(-1, m, 1)).squeeze(2)
    losses = {
        "sa": nn.functional.cross_entropy(soft_logits, y),
        "ha": -(a * log_py).sum(1).mean(),
        "lv": -(scores.log_softmax(1) + log_py).logsumexp(1).mean(),
    }
    s = {
        "sa": soft_logits.softmax(1),
        "ha": log_p.exp()[torch.arange(bags), scores.argmax(1)],
        "lv": (a.unsqueeze(2) * log_p.exp()).sum(1),
    }
    return losses, s, a


def reference(f, g, x, y):
    result = {"losses": {}}
    params = list(names("focus", f)) + list(names("classify", g))
    for loss in LOSSES:
        for _, p in params:
            p.grad = None
        losses, s, a = parts(f, g, x, y)
        losses[loss].backward()
        result["losses"][loss] = {
            "loss": losses[loss].item(),
            "scores": s[loss].tolist(),
            "grad": {n: (torch.zeros_like(p) if p.grad is None else p.grad).flatten().tolist() for n, p in params},
        }
    result["attention"] = a.tolist()
    return result, params


def write_npy(path, descr, shape, data):
    header = str({"descr": descr, "fortran_order": False, "shape": tuple(shape)})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as out:
        out.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + data)


def write_safetensors(path, params):
    header, data = {}, b""
    for name, p in params:
        values = p.detach().float().flatten().tolist()
        begin = len(data)
        data += struct.pack(f"<{len(values)}f", *values)
        header[name] = {"dtype": "F32", "shape": list(p.shape), "data_offsets": [begin, len(data)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + data)


def main():
    torch.manual_seed(3)
    if sys.argv[1:2] == ["--paper"]:
        folder, shape, bags, m, classes = sys.argv[2], (3, 32, 32), 32, 5, 3
        f = sizes(shape, (32, 64, 64), (512, 64, 10), False, 1)
        g = sizes(shape, (32, 64, 64), (512, 64, 10), True, classes)
        x = torch.randn(bags, m, *shape)
    else:
        shape, bags, m, classes = (2, 10, 10), 6, 3, 3
        f = sizes(shape, (3, 4), (5,), False, 1)
        g = sizes(shape, (3, 4), (5,), True, classes)
        # few digits keep the file small; every value is a float32
        x = (torch.randn(bags, m, *shape) * 8).round() / 8
    for net in (f, g):
        for p in net.parameters():
            if p.dim() > 1:
                nn.init.xavier_normal_(p)
    y, z = torch.randint(0, classes, (bags,)), torch.randint(0, m, (bags,))
    if sys.argv[1:2] == ["--paper"]:
        result, params = reference(f, g, x, y)
        for split in ("train", "test"):
            write_npy(f"{folder}/x_{split}.npy", "<f4", x.shape, struct.pack(f"<{x.numel()}f", *x.flatten().tolist()))
            write_npy(f"{folder}/y_{split}.npy", "<i8", y.shape, struct.pack(f"<{bags}q", *y.tolist()))
            write_npy(f"{folder}/z_{split}.npy", "<i8", z.shape, struct.pack(f"<{bags}q", *z.tolist()))
        write_safetensors(f"{folder}/weights.safetensors", params)
        with open(f"{folder}/expected.json", "w") as out:
            json.dump(result, out)
        return
    weights = {n: p.detach().flatten().tolist() for n, p in list(names("focus", f)) + list(names("classify", g))}
    shapes = {n: list(p.shape) for n, p in list(names("focus", f)) + list(names("classify", g))}
    result, _ = reference(f.double(), g.double(), x.double(), y)
    json.dump({"x_shape": list(x.shape), "x": x.flatten().tolist(), "y": y.tolist(), "z": z.tolist(), "classes": classes,
               "focus": "conv3k3 nobias relu pool2 conv4k3 nobias relu fc5 nobias relu linear nobias",
               "classify": "conv3k3 relu pool2 conv4k3 relu fc5 relu linear",
               "weights": weights, "shapes": shapes, **result}, sys.stdout)


main()
