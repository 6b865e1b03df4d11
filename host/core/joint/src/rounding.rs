//! From parts of replicas to whole ones.

use crate::assignment::Assignment;
use crate::chains::Order;

/// Places whole replicas as near to the point of a relaxation as room allows: the whole part of each edge first, from the edges whose
/// classes lose most elsewhere, then what is left over by edge, then wherever it is cheapest.
pub(crate) fn round(assignment: &mut Assignment<'_>, order: &Order, point: &[f64]) {
    let classes = assignment.classes;
    let mut claims: Vec<(f64, u32, u32, u64, f64)> = Vec::new();
    for (number, class) in classes.list.iter().enumerate() {
        for edge in class.edges.clone() {
            // A part that is nearly whole counts as whole.
            let whole = (point[edge] + 1e-3).floor().max(0.0);
            let part = point[edge] - whole;
            if point[edge] > 1e-3 {
                let other = order.edges(classes, number).find(|other| *other != edge);
                let unplaced = classes.unplaced_cost(class);
                // Who is at home pays for the move, too.
                let moved = if classes.home[edge] > 0 {
                    classes.move_price
                } else {
                    0.0
                };
                let other = other.map_or(unplaced, |other| (order.reduced(other) + moved).min(unplaced));
                let loss = (other - order.reduced(edge)) / class.size.max(f64::MIN_POSITIVE);
                claims.push((loss, edge as u32, number as u32, whole as u64, part));
            }
        }
    }
    claims.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
    for (_, edge, class, whole, _) in &claims {
        claim(assignment, *class as usize, *edge as usize, *whole);
    }
    claims.retain(|claim| claim.4 > 1e-3);
    claims.sort_by(|left, right| right.4.total_cmp(&left.4).then(left.1.cmp(&right.1)));
    for (_, edge, class, ..) in &claims {
        claim(assignment, *class as usize, *edge as usize, 1);
    }
    fill(assignment, order);
}

/// Places up to so many waiting replicas on an edge.
fn claim(assignment: &mut Assignment<'_>, class: usize, edge: usize, replicas: u64) {
    let replicas = replicas.min(assignment.waiting(class));
    if replicas > 0 {
        let fits = assignment.fits(class, edge);
        assignment.put(class, edge, replicas.min(fits));
    }
}

/// Places what waits where it fits, from the classes that lose most by waiting, each where it is cheapest.
pub(crate) fn fill(assignment: &mut Assignment<'_>, order: &Order) {
    let classes = assignment.classes;
    let loss = |number: usize| {
        let class = &classes.list[number];
        let unplaced = classes.unplaced_cost(class);
        let least = order
            .edges(classes, number)
            .next()
            .map_or(unplaced, |edge| order.reduced(edge));
        (unplaced - least) / class.size.max(f64::MIN_POSITIVE)
    };
    let waits = (0..classes.list.len()).filter(|number| assignment.waiting(*number) > 0);
    let mut waiting: Vec<(i64, f64, usize)> = waits
        .map(|number| (classes.list[number].priority, loss(number), number))
        .collect();
    waiting.sort_by(|left, right| {
        right
            .0
            .cmp(&left.0)
            .then(right.1.total_cmp(&left.1))
            .then(left.2.cmp(&right.2))
    });
    for (_, _, class) in waiting {
        place_directly(assignment, order, class);
    }
}

/// Places what waits of a class where it fits and costs less than waiting: first at home, then where it is cheapest.
pub(crate) fn place_directly(assignment: &mut Assignment<'_>, order: &Order, class: usize) {
    let classes = assignment.classes;
    let unplaced = classes.unplaced_cost(&classes.list[class]);
    for edge in classes.list[class].edges.clone() {
        let missing = classes.home[edge].saturating_sub(assignment.placed(edge));
        if classes.cost[edge] < unplaced {
            claim(assignment, class, edge, missing);
        }
    }
    let mut edges: Vec<usize> = order.edges(classes, class).collect();
    if classes.list[class].clusters.is_some() {
        // With few clusters, the ones that take most are the best.
        edges.sort_by_key(|edge| std::cmp::Reverse(assignment.fits(class, *edge).min(assignment.waiting(class))));
    }
    for edge in edges {
        if assignment.waiting(class) == 0 {
            break;
        }
        if classes.cost[edge] + classes.move_price < unplaced {
            claim(assignment, class, edge, u64::MAX);
        }
    }
}
