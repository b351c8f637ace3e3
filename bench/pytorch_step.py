"""Times training steps of the attention model in PyTorch, on as many threads as asked: the model of fcam-bench.

    pytorch_step.py --loss sa|ha|lv --batch 256 --patches 5 --shape 3x32x32 --network paper --steps 10 --threads 2

Prints {"seconds": the median of the steps after two that do not count} as JSON. A step is: gradients to zero, forward,
loss, backward, SGD with momentum. The batch is made once, before the steps.
"""
import argparse
import json
import statistics
import time

import torch
from torch import nn

CLASSES = 3
# filters and kernel of convolutions, pooling or not; then fully connected units
NETWORKS = {
    "paper": ([(32, 3, True), (64, 3, True), (64, 3, False)], [512, 64, 10]),
    "lenet": ([(6, 5, True), (16, 5, True)], [120, 84, 10]),
    "small": ([(16, 3, True), (32, 3, True)], [64]),
}


def network(name, shape, bias, outputs):
    convolutions, units = NETWORKS[name]
    channels, height, width = shape
    layers = []
    for filters, kernel, pool in convolutions:
        layers += [nn.Conv2d(channels, filters, kernel, bias=bias), nn.ReLU()]
        channels, height, width = filters, height - kernel + 1, width - kernel + 1
        if pool:
            layers.append(nn.MaxPool2d(2))
            height, width = height // 2, width // 2
    layers.append(nn.Flatten())
    inputs = channels * height * width
    for count in units:
        layers += [nn.Linear(inputs, count, bias=bias), nn.ReLU()]
        inputs = count
    layers.append(nn.Linear(inputs, outputs, bias=bias))
    net = nn.Sequential(*layers)
    for parameter in net.parameters():
        if parameter.dim() > 1:
            nn.init.xavier_normal_(parameter)
        else:
            nn.init.zeros_(parameter)
    return net


def loss_of(loss, f, g, x, y):
    bags, m = x.shape[:2]
    patches = x.flatten(0, 1)
    scores = f(patches).reshape(bags, m)
    if loss == "sa":
        a = scores.softmax(1)
        return nn.functional.cross_entropy(g((a.reshape(bags, m, 1, 1, 1) * x).sum(1)), y)
    log_p = g(patches).reshape(bags, m, CLASSES).log_softmax(2)
    log_py = log_p.gather(2, y.reshape(bags, 1, 1).expand(bags, m, 1)).squeeze(2)
    if loss == "ha":
        return -(scores.softmax(1) * log_py).sum(1).mean()
    return -(scores.log_softmax(1) + log_py).logsumexp(1).mean()


def main():
    parser = argparse.ArgumentParser(description="Times training steps of the attention model in PyTorch.")
    parser.add_argument("--loss", choices=("sa", "ha", "lv"), default="sa")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--patches", type=int, default=5)
    parser.add_argument("--shape", default="3x32x32")
    parser.add_argument("--network", choices=NETWORKS, default="paper", help="focus and classification network")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    torch.manual_seed(1)
    shape = tuple(int(size) for size in options.shape.split("x"))
    f = network(options.network, shape, False, 1)
    g = network(options.network, shape, True, CLASSES)
    rate = 0.01 if options.loss == "ha" else 0.05
    optimizer = torch.optim.SGD([*f.parameters(), *g.parameters()], lr=rate, momentum=0.9)
    x = (torch.randint(0, 256, (options.batch, options.patches, *shape)) / 255 - 0.5) / 0.5
    y = torch.randint(0, CLASSES, (options.batch,))
    times = []
    for _ in range(options.steps + 2):
        start = time.perf_counter()
        optimizer.zero_grad()
        loss = loss_of(options.loss, f, g, x, y)
        loss.backward()
        optimizer.step()
        times.append(time.perf_counter() - start)
    print(json.dumps({"seconds": statistics.median(times[2:])}))


main()
