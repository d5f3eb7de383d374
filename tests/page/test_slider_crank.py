"""Wang 2011 fig. 7: a torque put on a running mechanism by its icon at t = 10 s, beside another code.

The paper's reference code is ADAMS; ours is Exudyn, given the same slider-crank and the same torque.
"""

import math
from collections.abc import Callable

import exudyn as exu
import numpy as np
import pytest
from exudyn.itemInterface import (
    LoadMassProportional,
    LoadTorqueVector,
    MarkerBodyMass,
    MarkerBodyRigid,
    NodeRigidBody2D,
    ObjectGround,
    ObjectJointPrismatic2D,
    ObjectJointRevolute2D,
    ObjectRigidBody2D,
    SensorNode,
)

from .browser import Studio

SWITCH, END = 10.0, 11.5  # [s]
CRANK, ROD, ANGLE = 0.15, 0.3, math.radians(60.0)
FINE = 1e-4  # Exudyn's step [s]


def exudyn_angles(torque: float, h: float, times: list[float]) -> np.ndarray:
    """Crank angle at times after the switch, from rest at t = 0: trapezoidal rule, restarted at the switch."""
    container = exu.SystemContainer()
    mbs = container.AddSystem()
    ground = mbs.AddObject(ObjectGround(referencePosition=[0, 0, 0]))
    pin = np.array([CRANK * math.cos(ANGLE), CRANK * math.sin(ANGLE)])
    lean = math.asin(pin[1] / ROD)
    end = np.array([pin[0] + ROD * math.cos(lean), 0.0])

    def body(position: np.ndarray, angle: float, mass: float, inertia: float) -> tuple[int, int]:
        node = mbs.AddNode(NodeRigidBody2D(referenceCoordinates=[*position, angle]))
        number = mbs.AddObject(ObjectRigidBody2D(mass=mass, inertia=inertia, nodeNumber=node))
        mass_marker = mbs.AddMarker(MarkerBodyMass(bodyNumber=number))
        mbs.AddLoad(LoadMassProportional(markerNumber=mass_marker, loadVector=[0, -9.81, 0]))
        return node, number

    def point(number: int, x: float, y: float = 0.0) -> int:
        return mbs.AddMarker(MarkerBodyRigid(bodyNumber=number, localPosition=[x, y, 0]))

    node, crank = body(pin / 2, ANGLE, 0.36, 7.02e-4)
    _, rod = body((pin + end) / 2, -lean, 0.151104, 1.1340859e-3)
    _, slider = body(end, 0.0, 0.075552, 1e-5)
    for pair in (
        [point(ground, 0), point(crank, -CRANK / 2)],
        [point(crank, CRANK / 2), point(rod, -ROD / 2)],
        [point(rod, ROD / 2), point(slider, 0)],
    ):
        mbs.AddObject(ObjectJointRevolute2D(markerNumbers=pair))
    guide = [point(ground, 0), point(slider, 0)]
    mbs.AddObject(ObjectJointPrismatic2D(markerNumbers=guide, axisMarker0=[1, 0, 0], normalMarker1=[0, 1, 0]))
    load = mbs.AddLoad(LoadTorqueVector(markerNumber=point(crank, 0), loadVector=[0, 0, 0]))
    kind = exu.OutputVariableType.Coordinates
    sensor = mbs.AddSensor(SensorNode(nodeNumber=node, outputVariableType=kind, storeInternal=True))
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = h
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.newton.relativeTolerance = 1e-10
    for start, stop, value in ((0.0, SWITCH, 0.0), (SWITCH, END, torque)):
        mbs.SetLoadParameter(load, "loadVector", [0, 0, value])
        settings.timeIntegration.startTime, settings.timeIntegration.endTime = start, stop
        settings.timeIntegration.numberOfSteps = round((stop - start) / h)
        mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.TrapezoidalIndex2)
        data = mbs.systemData
        data.SetODE2Coordinates(data.GetODE2Coordinates(), exu.ConfigurationType.Initial)
        data.SetODE2Coordinates_t(data.GetODE2Coordinates_t(), exu.ConfigurationType.Initial)
    rows = np.array(mbs.GetSensorStoredData(sensor))
    return ANGLE + np.interp(times, rows[:, 0], rows[:, 3])


@pytest.mark.slow
def test_torque_at_ten_seconds_beside_exudyn(open_scene: Callable[..., Studio]) -> None:
    """The crank's angle after the torque came agrees with Exudyn's within Exudyn's own error."""
    studio = open_scene("slider-crank")
    studio.page.select_option("#speed", "10")
    studio.until("(end) => impulsar.frame().time > end", SWITCH, patience=60)
    studio.pause()
    studio.page.locator("#seek").fill(str(SWITCH))
    studio.until("(time) => Math.abs(impulsar.frame().time - time) < 1e-9", SWITCH)
    studio.tool("torque")
    grip = studio.get("pixel", "crank")
    studio.drag(grip, {"x": grip["x"] + 60, "y": grip["y"]})
    studio.until("() => impulsar.live().loads.length === 1")
    studio.settle()
    torque = studio.get("live")["loads"][0]["torque"]
    assert torque[:2] == [0, 0]
    assert torque[2] != 0
    studio.page.select_option("#speed", "1")
    studio.ask("() => impulsar.record()")
    studio.run()
    studio.until("(end) => impulsar.frame().time > end", END)
    frames = [frame for frame in studio.ask("() => impulsar.recorded()") if SWITCH < frame["time"] <= END]
    studio.pause()
    assert len(frames) > 10
    times = [frame["time"] for frame in frames]
    ours = np.array([math.atan2(frame["poses"]["crank"][1], frame["poses"]["crank"][0]) for frame in frames])

    coarse, fine = (exudyn_angles(torque[2], h, times) for h in (2 * FINE, FINE))
    own_error = np.abs(coarse - fine).max() / 3  # second order
    without = exudyn_angles(0.0, 2 * FINE, times)
    effect = np.abs(coarse - without).max()
    apart = np.abs(np.remainder(ours - fine + math.pi, 2 * math.pi) - math.pi).max()  # whole turns left out
    print(
        f"torque {torque[2]} N m: {apart:.2g} rad from Exudyn, whose own error is {own_error:.2g} rad; "
        f"effect {effect:.2g} rad"
    )
    assert apart <= 2 * own_error + 1e-6  # and what float32 leaves of an angle
    assert effect > 100 * apart
