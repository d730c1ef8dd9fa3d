/** Which entries of a folder are chosen, by name. `active` is where the keyboard is, `anchor` where a range began. */
export interface Selection {
  readonly chosen: ReadonlySet<string>
  readonly active: string | undefined
  readonly anchor: string | undefined
}

/** The entries as they are shown. */
export interface Shown {
  readonly names: readonly string[]
  readonly places: ReadonlyMap<string, number>
}

export const nothing: Selection = { chosen: new Set(), active: undefined, anchor: undefined }

export function shownAs(names: readonly string[]): Shown {
  return { names, places: new Map(names.map((name, place) => [name, place])) }
}

/** One alone, with the keyboard on it. */
export function only(name: string): Selection {
  return { chosen: new Set([name]), active: name, anchor: name }
}

/** All from where the range began to `name`, and what was chosen besides if `adding`. */
export function rangeTo(selection: Selection, shown: Shown, name: string, adding = false): Selection {
  const anchor = selection.anchor ?? selection.active ?? shown.names[0] ?? name
  const from = shown.places.get(anchor) ?? 0
  const to = shown.places.get(name) ?? from
  const range = shown.names.slice(Math.min(from, to), Math.max(from, to) + 1)
  return { chosen: new Set(adding ? [...selection.chosen, ...range] : range), active: name, anchor }
}

/** Takes one in or out. */
export function toggled(selection: Selection, name: string): Selection {
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

/** Where a key leads from the active entry. Nothing if it leads nowhere. */
export function stepped(
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

/** What is left of a selection once some of it is gone. */
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

/** The next whose name begins with what is typed, after the active one and then from the top. */
export function typedAhead(selection: Selection, shown: Shown, typed: string): string | undefined {
  const { names, places } = shown
  const at = selection.active === undefined ? -1 : (places.get(selection.active) ?? -1)
  const fits = (name: string) => name.toLowerCase().startsWith(typed)
  // A longer text may still be about the one already found.
  const from = typed.length > 1 ? Math.max(at, 0) : at + 1
  return names.slice(from).find(fits) ?? names.slice(0, from).find(fits)
}
