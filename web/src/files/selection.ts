/** Selected entries of a folder, by name. `active` has the keyboard focus, `anchor` is where a range starts. */
export interface Selection {
  readonly chosen: ReadonlySet<string>
  readonly active: string | undefined
  readonly anchor: string | undefined
}

/** The names of the list, in order, with their index. */
export interface Shown {
  readonly names: readonly string[]
  readonly places: ReadonlyMap<string, number>
}

export const nothing: Selection = { chosen: new Set(), active: undefined, anchor: undefined }

export function indexNames(names: readonly string[]): Shown {
  return { names, places: new Map(names.map((name, place) => [name, place])) }
}

/** Selects one entry and makes it active. */
export function only(name: string): Selection {
  return { chosen: new Set([name]), active: name, anchor: name }
}

/** Selects the range from the anchor to `name`, in addition to the selection if `adding`. */
export function selectRange(selection: Selection, shown: Shown, name: string, adding = false): Selection {
  const anchor = selection.anchor ?? selection.active ?? shown.names[0] ?? name
  const from = shown.places.get(anchor) ?? 0
  const to = shown.places.get(name) ?? from
  const range = shown.names.slice(Math.min(from, to), Math.max(from, to) + 1)
  return { chosen: new Set(adding ? [...selection.chosen, ...range] : range), active: name, anchor }
}

/** Adds or removes one entry. */
export function toggleEntry(selection: Selection, name: string): Selection {
  const chosen = new Set(selection.chosen)
  if (!chosen.delete(name)) chosen.add(name)
  return { chosen, active: name, anchor: name }
}

export function all(selection: Selection, shown: Shown): Selection {
  return { ...selection, chosen: new Set(shown.names) }
}

export function none(selection: Selection): Selection {
  return { ...selection, chosen: new Set() }
}

/** The entry a number of steps from the active one. Undefined in an empty list. */
export function entryAt(
  selection: Selection,
  shown: Shown,
  step: number | 'first' | 'last',
): string | undefined {
  const { names, places } = shown
  if (step === 'first') return names[0]
  if (step === 'last') return names.at(-1)
  const at = selection.active === undefined ? undefined : places.get(selection.active)
  if (at === undefined) return names[0]
  return names[Math.min(names.length - 1, Math.max(0, at + step))]
}

/** The selection without entries that are no longer listed. */
export function kept(selection: Selection, shown: Shown): Selection {
  const { chosen, active, anchor } = selection
  const has = (name: string | undefined) => name === undefined || shown.places.has(name)
  const gone = [...chosen].some((name) => !shown.places.has(name))
  if (!gone && has(active) && has(anchor)) return selection
  return {
    chosen: gone ? new Set([...chosen].filter((name) => shown.places.has(name))) : chosen,
    active: has(active) ? active : undefined,
    anchor: has(anchor) ? anchor : undefined,
  }
}

/** Type-ahead: the next entry after the active one whose name starts with `typed`, wrapping around. */
export function typeAheadMatch(selection: Selection, shown: Shown, typed: string): string | undefined {
  const { names, places } = shown
  const at = selection.active === undefined ? -1 : (places.get(selection.active) ?? -1)
  const fits = (name: string) => name.toLowerCase().startsWith(typed)
  // With more than one letter, the active entry may still match.
  const from = typed.length > 1 ? Math.max(at, 0) : at + 1
  return names.slice(from).find(fits) ?? names.slice(0, from).find(fits)
}
