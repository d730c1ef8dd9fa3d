/** The part of a text before the cursor that is a mention being typed. */
interface TypedMention {
  /** Position of the @. */
  readonly start: number
  /** The text after the @. */
  readonly typed: string
}

/** The mention at the cursor; undefined if there is none. */
export function typedMention(text: string, cursor: number): TypedMention | undefined {
  const found = /(?:^|[\s(])@([^\s@]{0,60})$/u.exec(text.slice(0, cursor))
  if (found === null) return undefined
  const typed = found[1] ?? ''
  return { start: cursor - typed.length - 1, typed }
}

/** The people whose name or address contains what was typed, those that begin with it first. */
export function matchingPeople<P extends { readonly name: string; readonly email: string }>(
  people: readonly P[],
  typed: string,
  limit: number,
): P[] {
  const lowercase = typed.toLowerCase()
  const rank = ({ name, email }: P) => {
    const texts = [name.toLowerCase(), email.toLowerCase()]
    if (texts.some((text) => text.startsWith(lowercase))) return 0
    return texts.some((text) => text.includes(lowercase)) ? 1 : 2
  }
  return people
    .filter((person) => rank(person) < 2)
    .toSorted((a, b) => rank(a) - rank(b))
    .slice(0, limit)
}

/** A run of a comment: text, or the mention of a person. */
type Run<P> = string | { readonly person: P }

/** Splits a comment at the mentions of known people. Everything else stays text. */
export function runsOf<P extends { readonly email: string }>(text: string, people: readonly P[]): Run<P>[] {
  const byEmail = new Map(people.map((person) => [person.email.toLowerCase(), person]))
  const runs: Run<P>[] = []
  let end = 0
  for (const found of text.matchAll(
    /(?<![\p{L}\p{N}._%+@-])@([^\s@<>"'(),;:]+@[\p{L}\p{N}.-]*[\p{L}\p{N}])/gu,
  )) {
    const person = byEmail.get((found[1] ?? '').toLowerCase())
    if (person === undefined) continue
    if (found.index > end) runs.push(text.slice(end, found.index))
    runs.push({ person })
    end = found.index + found[0].length
  }
  if (end < text.length) runs.push(text.slice(end))
  return runs
}
