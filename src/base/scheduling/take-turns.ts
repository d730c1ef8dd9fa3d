/** Round robin: up to `count` items, the first of each list, then the second of each, and so on. */
export function takeTurns<T>(lists: Iterable<readonly T[]>, count: number): T[] {
  const all = [...lists]
  const longest = Math.max(0, ...all.map(({ length }) => length))
  const taken: T[] = []
  for (let turn = 0; turn < longest && taken.length < count; turn += 1)
    for (const list of all) taken.push(...list.slice(turn, turn + 1))
  return taken.slice(0, count)
}
