//! Forests of disjoint sets: a parent for each element, and a root, which is its own parent, for each set (Tarjan, 1975).

/// The root of an element's tree. Paths are halved on the way (Tarjan and van Leeuwen, 1984).
pub fn root(parents: &mut [u32], mut at: u32) -> u32 {
    loop {
        let parent = parents[at as usize];
        let above = parents[parent as usize];
        if parent == above {
            return parent;
        }
        parents[at as usize] = above;
        at = above;
    }
}

#[cfg(test)]
mod tests {
    use super::root;

    #[test]
    fn roots_are_found_and_paths_get_shorter() {
        // A path 5, 4, 3, 2, 1, 0, and a tree of one element.
        let mut parents = vec![0, 0, 1, 2, 3, 4, 6];
        assert_eq!(root(&mut parents, 5), 0);
        assert_eq!(parents, [0, 0, 1, 1, 3, 3, 6]);
        assert_eq!(root(&mut parents, 6), 6);
        assert_eq!(root(&mut parents, 0), 0);
    }
}
