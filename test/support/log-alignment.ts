/** The definition of the positions at which a tail can continue a window, word by word. */
export function bruteForceCandidates(window: readonly string[], tail: readonly string[]): number[] {
  return tail
    .map((_, index) => index + 1)
    .filter((at) => {
      let evidence = 0;
      for (let back = 1; back <= Math.min(at, window.length); back++) {
        const [taken, seen] = [window.at(-back), tail[at - back]];
        if (taken === undefined || seen === undefined) throw new Error('out of reach');
        const mayBeCut = at === back;
        if (taken !== seen && !(mayBeCut && taken.endsWith(seen))) return false;
        if (!mayBeCut) evidence += 1;
      }
      return evidence > 0;
    });
}
