"""Heights one below the other: where each begins, and which one a line is in."""

from __future__ import annotations

from collections.abc import Iterable


class Heights:
    """A Fenwick tree: changing one of n heights, summing and finding take O(log n)."""

    def __init__(self, heights: Iterable[int] = ()) -> None:
        self._heights: list[int] = []
        self._tree = [0]
        self.total = 0
        for height in heights:
            self.append(height)

    def __len__(self) -> int:
        return len(self._heights)

    def __getitem__(self, index: int) -> int:
        return self._heights[index]

    def append(self, height: int) -> None:
        """One more at the end."""
        self._heights.append(height)
        node = len(self._heights)
        # Node n sums the heights before n, as many as its lowest bit says.
        sum_, child, stop = height, node - 1, node - (node & -node)
        while child > stop:
            sum_ += self._tree[child]
            child -= child & -child
        self._tree.append(sum_)
        self.total += height

    def change(self, index: int, height: int) -> int:
        """Give one another height; returns by how much it has grown."""
        grown = height - self._heights[index]
        if grown:
            self._heights[index] = height
            self.total += grown
            node = index + 1
            while node < len(self._tree):
                self._tree[node] += grown
                node += node & -node
        return grown

    def top(self, index: int) -> int:
        """The line at which ``index`` begins; for the number of heights, the line below all."""
        sum_ = 0
        while index:
            sum_ += self._tree[index]
            index -= index & -index
        return sum_

    def at(self, line: int) -> tuple[int, int]:
        """Which one ``line`` is in, and the line within it; what is below all is in none: the
        number of heights, and the line below them."""
        if line >= self.total:
            return len(self._heights), line - self.total
        node, rest = 0, max(0, line)
        step = 1 << len(self._heights).bit_length()
        while step:
            ahead = node + step
            if ahead < len(self._tree) and self._tree[ahead] <= rest:
                node, rest = ahead, rest - self._tree[ahead]
            step >>= 1
        return node, rest
