// What each step comes to at most by mean storage: a straight line on each segment. As reservoir/certificate/boxes.py,
// which see. Of programs with FREE in double; stands behind flows.cl.

#define LONGER 8.0

// What a step comes to, about, that ends where it begins.
APART real at_best(const Plant *plant, const StageAt stage, const ToldAt told, const real storage) {
    const real best = lesser(greater(best_release(told, storage), LOW(stage->release_lower)), HIGH(stage->release_upper));
    const Side side = {point(best), best, true};
    return bound_on(plant, stage, point(storage), point(storage), 0.0, 0.0, 0.0, side);
}

typedef struct {
    real value, slope, over;
} Line;

// A straight line on a segment, by its value at the middle and its slope, and how far above the middle it is.
APART Line on_segment(const Plant *plant, const StageAt stage, const ToldAt told, const Interval segment) {
    const real width = segment.high - segment.low;
    real here[3];
    for (int which = 0; which < 3; ++which) {
        const real middle = 0.5 * (segment.low + segment.high);
        here[which] = at_best(plant, stage, told, which == 0 ? segment.low : which == 1 ? middle : segment.high);
    }
    const real rises = (here[2] - here[0]) / width;
    const real value = fabs(here[1]) < INFINITY ? here[1] : 0.0, slope = fabs(rises) < INFINITY ? rises : 0.0;
    const real stored = stage->free_price / stage->hm3_per_m3s;
    const real slope_x = stored + 0.5 * slope, slope_y = stored - 0.5 * slope;
    const real over = over_flows(plant, stage, told, segment, segment, -value, slope_x, slope_y);
    if (!(fabs(over) < INFINITY)) {
        const real none = over < 0.0 ? over : INFINITY;
        return (Line){none, 0.0, none};
    }
    const real rounded = ROUNDING * (fabs(value) + (fabs(slope_x) + fabs(slope_y)) * width);
    return (Line){above(value + over + rounded), slope, over};
}

// A work item a part of the mean storages of a step, of which nothing is told yet, and whose free flow has no range
// (`stages`). Bounds of its storages are the lower ones at its start and at its end, and the upper ones. Each part has some room,
// behind that of those before, and tells how many segments it has filled in.
__kernel void fill_by_mean(__global const PlantNumbers *numbers, __global const CurveShape *shapes,
                           __global const Given *curves, __global const Stage *stages, __global const real *bounds,
                           const int parts, const int room, __global int *counts, __global Told *all) {
    const int step = get_global_id(0) / parts, part = get_global_id(0) % parts;
    const Plant plant = {numbers, shapes, curves};
    __global Told *told = all + step;
    __global const real *within = bounds + 4 * step;
    const real first = scale(0.5, add(point(within[0]), point(within[1]))).low;
    const real last = scale(0.5, add(point(within[2]), point(within[3]))).high, width = (last - first) / parts;
    const real stop = part == parts - 1 ? last : first + (part + 1) * width;
    real edge = first + part * width;
    const real shortest = (stop - edge) / room;
    real length = LONGER * shortest;
    const int place = part * room;
    int count = 0;
    told->number = 0;
    while (edge < stop) {
        const real least = greater((stop - edge) / (room - count), shortest);
        length = greater(length, least);
        const real end = edge + 1.5 * length < stop ? edge + length : stop;
        const Line line = on_segment(&plant, stages + step, told, (Interval){edge, end});
        if (line.over > stages[step].free_slack && 0.5 * length >= least) {
            length *= 0.5;
            continue;
        }
        told->edges[place + count] = edge;
        told->value[place + count] = line.value;
        told->slope[place + count] = line.slope;
        told->over[place + count] = line.over;
        edge = end;
        ++count;
        length = 2.0 * length;
    }
    if (part == parts - 1) told->edges[SEGMENTS] = last;
    counts[get_global_id(0)] = count;
}
