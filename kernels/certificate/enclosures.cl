// Rigorous ranges of curves: value, slope and curvature on an interval. As reservoir/hydro/curves/enclosures.py, which
// see. Stands behind intervals.cl.
//
// Constants (reservoir/certificate/on_device.py): the fields of a CurveShape and of a PlantNumbers; the place of
// each curve.

typedef struct {
    CURVE_SHAPE_FIELDS;
} CurveShape;

typedef struct {
    PLANT_FIELDS;
} PlantNumbers;

// The curves of a plant and of its lake, and numbers; of each curve, behind each other from its place on: origin and
// exponent, its breaks, and the coefficients of its pieces, highest power first.
typedef struct {
    __global const PlantNumbers *of;
    __global const CurveShape *shapes;
    __global const Given *curves;
} Plant;

typedef struct {
    __global const Given *breaks, *coefficients;
    int pieces, columns, is_power;
    Given origin, exponent;
} Curve;

// Intervals that contain the value, the slope and the curvature of a function everywhere on an interval of its
// argument.
typedef struct {
    Interval value, slope, curvature;
} Jet;

Curve curve_of(const Plant *plant, const int which) {
    const CurveShape shape = plant->shapes[which];
    __global const Given *numbers = plant->curves + shape.place;
    const Curve curve = {numbers + 2,    numbers + 3 + shape.pieces, shape.pieces, shape.columns,
                         shape.is_power, numbers[0],                 numbers[1]};
    return curve;
}

// Horner's rule for a derivative of a polynomial, at offsets of 0 or more.
Interval derivative(__global const Given *row, const int columns, const int order, const Interval offset) {
    const int degree = columns - 1;
    Interval value = NOUGHT;
    for (int place = 0; place <= degree - order; ++place) {
        real factor = 1.0;
        for (int taken = 0; taken < order; ++taken) factor *= degree - place - taken;  // whole numbers, exact
        const Interval coefficient = scale(factor, GIVEN(row[place]));
        value = place == 0 ? coefficient : add(multiply(value, offset), coefficient);
    }
    return value;
}

// Range of a derivative: between its ends where the next one keeps its sign, else by the mean value theorem.
Interval narrowed(__global const Given *row, const int columns, const int order, const Interval ends,
                  const Interval away, const Interval next_order) {
    const bool monotone = next_order.low >= 0.0 || next_order.high <= 0.0;
    const real middle = 0.5 * (ends.low + ends.high);
    const Interval first = derivative(row, columns, order, point(monotone ? ends.low : middle));
    if (!monotone) return add(first, multiply(next_order, away));
    return hull(first, derivative(row, columns, order, point(ends.high)));
}

// A polynomial where its piece and the interval meet; ranges of degree 3 and less are tight.
APART Jet of_piece(const Curve *curve, const int piece, const Interval x) {
    const real low = greater(x.low, LOW(curve->breaks[piece]));
    const real high = lesser(x.high, HIGH(curve->breaks[piece + 1]));
    const Interval origin = GIVEN(curve->breaks[piece]);
    const Interval from = subtract(point(low), origin), to = subtract(point(high), origin);
    const Interval ends = {greater(from.low, 0.0), to.high};
#ifdef SINGLE
    const real middle = 0.5 * (ends.low + ends.high);
    const real farthest = above(greater(ends.high - middle, middle - ends.low));
#else
    const real half_width = 0.5 * (ends.high - ends.low), farthest = half_width * SLIGHTLY_MORE + TINY;
#endif
    const Interval away = {-farthest, farthest};
    const int columns = curve->columns;
    __global const Given *row = curve->coefficients + piece * columns;
    Jet found;
    found.curvature = narrowed(row, columns, 2, ends, away, derivative(row, columns, 3, ends));
    found.slope = narrowed(row, columns, 1, ends, away, found.curvature);
    found.value = narrowed(row, columns, 0, ends, away, found.slope);
    return found;
}

Jet power_law(const Curve *curve, const Interval x) {
    const Given exponent = curve->exponent, factor = curve->coefficients[0];
    const Interval base = subtract(x, GIVEN(curve->origin)), rise = times(factor, GIVEN(exponent));
    const bool straight = LOW(exponent) == 1.0 && HIGH(exponent) == 1.0;
    const Interval bend = straight ? NOUGHT : multiply(rise, subtract(GIVEN(exponent), ONE));
    Interval by_order[3];
    raised(base, exponent, by_order);
    Jet found;
    found.value = add(GIVEN(curve->coefficients[1]), times(factor, by_order[0]));
    found.slope = multiply(rise, by_order[1]);
    found.curvature = multiply(bend, by_order[2]);
    return found;
}

// The last piece that contains x: also where it begins.
int piece_at(const Curve *curve, const real x) {
    int low = 0, high = curve->pieces - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (x >= HIGH(curve->breaks[middle]))
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

// Of an interval within the curve's domain.
APART Jet inside(const Curve *curve, const Interval x) {
    if (curve->is_power) return power_law(curve, x);
    const int first = piece_at(curve, x.low);
    Jet found;
    for (int piece = first; piece == first || (piece < curve->pieces && LOW(curve->breaks[piece]) <= x.high); ++piece) {
        const Jet here = of_piece(curve, piece, x);
        found.value = piece == first ? here.value : hull(found.value, here.value);
        found.slope = piece == first ? here.slope : hull(found.slope, here.slope);
        found.curvature = piece == first ? here.curvature : hull(found.curvature, here.curvature);
    }
    return found;
}

// Curvature on an interval in which the slope jumps, and on one side of which it is 0.
Interval with_jump(const Interval curvature, const Interval jump) {
    const real least = jump.low < 0.0 ? -INFINITY : lesser(curvature.low, 0.0);
    return (Interval){least, jump.high > 0.0 ? INFINITY : greater(curvature.high, 0.0)};
}

// Value, slope and curvature of a curve on an interval; it is held at its ends.
APART Jet enclose(const Plant *plant, const int which, const Interval x) {
    const Curve curve = curve_of(plant, which);
    const Given first = curve.breaks[0], last = curve.breaks[curve.pieces];
    const bool before = x.high <= LOW(first), beyond = before || x.low >= HIGH(last);
    // What is held at an end lies anywhere in the interval of that, also farther than x reaches.
    const Interval within = {lesser(greater(x.low, LOW(first)), LOW(last)),
                             lesser(greater(x.high, HIGH(first)), HIGH(last))};
    Jet found = inside(&curve, beyond ? GIVEN(before ? first : last) : within);
    if (beyond) {
        found.slope = found.curvature = NOUGHT;
        return found;
    }
    for (int at_last = 0; at_last < 2; ++at_last) {
        if (!(at_last ? x.high > LOW(last) : x.low < HIGH(first))) continue;
        const Interval slope = inside(&curve, GIVEN(at_last ? last : first)).slope;
        found.slope = hull(found.slope, NOUGHT);
        found.curvature = with_jump(found.curvature, at_last ? negative(slope) : slope);
    }
    return found;
}

// Product of two functions of one variable.
APART Jet multiply_jets(const Jet a, const Jet b) {
    Jet found;
    const Interval bends = add(multiply(a.curvature, b.value), multiply(a.value, b.curvature));
    found.curvature = add(bends, scale(2.0, multiply(a.slope, b.slope)));
    found.value = multiply(a.value, b.value);
    found.slope = add(multiply(a.slope, b.value), multiply(a.value, b.slope));
    return found;
}

Jet scale_jet(const Given factor, const Jet a) {
    const Jet found = {times(factor, a.value), times(factor, a.slope), times(factor, a.curvature)};
    return found;
}

Jet add_jets(const Jet a, const Jet b) {
    const Jet found = {add(a.value, b.value), add(a.slope, b.slope), add(a.curvature, b.curvature)};
    return found;
}

// One over a function that is not 0 anywhere.
APART Jet reciprocal_jet(const Jet a) {
    const Interval value = reciprocal(a.value), squared = square(value);
    const Interval bend = subtract(scale(2.0, multiply(square(a.slope), value)), a.curvature);
    const Jet found = {value, multiply(negative(a.slope), squared), multiply(bend, squared)};
    return found;
}

// Power of 1 m3/s by head, MW.
APART Jet enclose_conversion(const Plant *plant, const Interval head) {
    const Jet curve = enclose(plant, CONVERSION, head);
    if (LOW(plant->of->is_rate) != 0.0) return scale_jet(LITERAL(MW_PER_KW_HOURS), reciprocal_jet(curve));
    const Given low = plant->of->lower, high = plant->of->upper;
    Jet held = {NOUGHT, ONE, NOUGHT};
    held.value.low = lesser(greater(head.low, LOW(low)), LOW(high));
    held.value.high = lesser(greater(head.high, HIGH(low)), HIGH(high));
    if (head.high <= LOW(low) || head.low >= HIGH(high)) {
        held.slope = NOUGHT;
    } else if (head.low < HIGH(low) || head.high > LOW(high)) {
        held.slope = (Interval){0.0, 1.0};
        held.curvature = (Interval){head.high > LOW(high) ? -INFINITY : 0.0, head.low < HIGH(low) ? INFINITY : 0.0};
    }
    return scale_jet(plant->of->factor, multiply_jets(curve, held));
}
