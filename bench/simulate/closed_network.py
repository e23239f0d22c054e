"""The closed network of the bench in SimPy: users think, then visit three stations in order of arrival.

Arguments: users, simulated seconds. An event is the end of a think time or of a service; seconds are
processor time.
"""

import json
import random
import sys
import time

import simpy

SERVICE_MEANS = (0.0005, 0.0009, 0.0005)


def user(environment, stations, draw, counts):
    while True:
        yield environment.timeout(draw(1.0))
        counts[0] += 1
        for station, mean in zip(stations, SERVICE_MEANS):
            with station.request() as turn:
                yield turn
                yield environment.timeout(draw(1.0 / mean))
            counts[0] += 1
        counts[1] += 1


def main():
    users, seconds = int(sys.argv[1]), float(sys.argv[2])
    draw = random.Random(1).expovariate
    environment = simpy.Environment()
    stations = [simpy.Resource(environment, capacity=1) for _ in SERVICE_MEANS]
    counts = [0, 0]
    for _ in range(users):
        environment.process(user(environment, stations, draw, counts))
    start = time.process_time()
    environment.run(until=seconds)
    elapsed = time.process_time() - start
    print(
        json.dumps(
            {
                "events": counts[0],
                "seconds": elapsed,
                "throughput_per_s": counts[1] / seconds,
            }
        )
    )


main()
