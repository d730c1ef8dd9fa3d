import { createHash, type Hash } from 'node:crypto'
import { escapeText } from './canonical.ts'
import type { Dirent } from './dirent.ts'
import { sha1Hex } from './ids.ts'
import { compareNames, comparesNatively } from './names.ts'
import { indexOf } from './sorted-entries.ts'

/** Some entries in a row, as they stand in the JSON. */
interface Section {
  readonly entries: readonly Dirent[]
  readonly bytes: Buffer
  /** Entry i is bytes[starts[i]] up to bytes[starts[i + 1]], with the separator that follows it. */
  readonly starts: Uint32Array
}

/** The hash of the JSON up to a section. */
interface Begun {
  readonly sections: number
  readonly hash: Hash
}

const head = Buffer.from('{"dirents": [')
const tail = Buffer.from('], "type": 3, "version": 1}')
const separator = ', '

// Fewer would be more calls into native code, more would be more to copy for one change.
const SECTION_ENTRIES = 64
const MOST_SECTION_ENTRIES = 2 * SECTION_ENTRIES
/** With so many new entries a section is written anew: runs would be short. */
const MANY_NEW = 16

// Keeping where a hash stands takes as long as hashing half a section: it is done where versions differ, as the next
// one often differs there too, and now and then.
const LEAST_SECTIONS_HASHED = 4
const MOST_SECTIONS_HASHED = 32

/**
 * The canonical JSON of a dir, in sections. Versions of a dir share the sections in which they do not differ, so that one
 * more version of a big folder takes little time to write down, and little memory; and the hash of what comes before
 * the first of those in which they do.
 */
export class EncodedDirents {
  readonly #sections: readonly Section[]
  /** How many of the first sections are the forerunner's. */
  readonly #shared: number
  /** Shortest first. */
  #begun: readonly Begun[]

  private constructor(sections: readonly Section[], shared: number, begun: readonly Begun[]) {
    this.#sections = sections
    this.#shared = shared
    this.#begun = begun
  }

  static of(entries: readonly Dirent[]): EncodedDirents {
    return new EncodedDirents(encodeSections(entries), 0, [])
  }

  /** The encoding of `entries`, which differ from those encoded here by no more than what has one of the names. */
  splice(entries: readonly Dirent[], names: readonly string[]): EncodedDirents {
    if (this.#sections.length === 0) return EncodedDirents.of(entries)
    const differing = new Set(names.map((name) => this.#sectionOf(name)))
    const sections: Section[] = []
    let from = 0
    for (const [index, theirs] of this.#sections.entries()) {
      if (!differing.has(index)) {
        sections.push(theirs)
        from += theirs.entries.length
        continue
      }
      const next = this.#sections[index + 1]?.entries[0]
      const end = next === undefined ? entries.length : indexOf(entries, next.name, from)
      if (end - from > MOST_SECTION_ENTRIES) sections.push(...encodeSections(entries.slice(from, end)))
      else if (end > from) sections.push(spliceSection(entries.slice(from, end), theirs))
      from = end
    }
    const shared = Math.min(...differing)
    const begun = this.#begun.filter((one) => one.sections <= shared)
    return new EncodedDirents(sections, shared, begun)
  }

  /** The JSON as a whole. */
  join(): Buffer {
    const pieces = this.#sections.map((_, index) => this.#piece(index))
    return Buffer.concat([head, ...pieces, tail])
  }

  /** The hash of the JSON. */
  hash(): string {
    const count = this.#sections.length
    if (count <= 1) return sha1Hex(this.join())
    // What ends with the last section is followed by a separator that is not there.
    const begun = this.#begun.filter((one) => one.sections < count)
    const last = begun.at(-1)
    const hash = last === undefined ? createHash('sha1').update(head) : last.hash.copy()
    let kept = last?.sections ?? 0
    for (let index = kept; index < count; index++) {
      const far = index - kept
      if (far >= MOST_SECTIONS_HASHED || (index === this.#shared && far >= LEAST_SECTIONS_HASHED)) {
        begun.push({ sections: index, hash: hash.copy() })
        kept = index
      }
      hash.update(this.#piece(index))
    }
    this.#begun = begun
    return hash.update(tail).digest('hex')
  }

  /** A section as it stands in the whole: the last has no separator behind it. */
  #piece(index: number): Buffer {
    const { bytes } = this.#sections[index] as Section
    return index < this.#sections.length - 1 ? bytes : bytes.subarray(0, -separator.length)
  }

  /** Where an entry of that name is, or would have to be. */
  #sectionOf(name: string): number {
    const native = comparesNatively(name)
    let low = 0
    let high = this.#sections.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      const first = this.#sections[middle]?.entries[0]?.name ?? ''
      if (native ? first >= name : compareNames(first, name) >= 0) low = middle
      else high = middle - 1
    }
    return low
  }
}

function encodeSections(entries: readonly Dirent[]): Section[] {
  const sections: Section[] = []
  for (let from = 0; from < entries.length; from += SECTION_ENTRIES) {
    sections.push(encodeSection(entries.slice(from, from + SECTION_ENTRIES)))
  }
  return sections
}

function encodeSection(entries: readonly Dirent[]): Section {
  const starts = new Uint32Array(entries.length + 1)
  const json = direntJson()
  const names = escapedNames(entries)
  let text = ''
  for (let i = 0; i < entries.length; i++) {
    starts[i] = text.length
    text += json(entries[i] as Dirent, names[i] as string)
  }
  starts[entries.length] = text.length
  // Not from the pool: a cached dir must not keep a slab of strangers alive.
  const bytes = Buffer.allocUnsafeSlow(text.length)
  bytes.write(text, 'latin1')
  return { entries, bytes, starts }
}

function spliceSection(entries: readonly Dirent[], donor: Section): Section {
  const pieces = findPieces(entries, donor)
  if (pieces === undefined) return encodeSection(entries)
  let length = 0
  for (const piece of pieces) length += piece.bytes.length
  const bytes = Buffer.allocUnsafeSlow(length)
  const starts = new Uint32Array(entries.length + 1)
  let at = 0
  let entry = 0
  for (const piece of pieces) {
    bytes.set(piece.bytes, at)
    const shift = at - (donor.starts[piece.from] as number)
    for (let i = 0; i < piece.count; i++) {
      starts[entry + i] = piece.copied ? (donor.starts[piece.from + i] as number) + shift : at
    }
    entry += piece.count
    at += piece.bytes.length
  }
  starts[entries.length] = at
  return { entries, bytes, starts }
}

/** A run of entries as they stand in the donor, or a single new one. */
interface Piece {
  readonly bytes: Uint8Array
  readonly count: number
  readonly copied: boolean
  /** The run's first entry in the donor. */
  readonly from: number
}

/** Undefined if much is new. */
function findPieces(entries: readonly Dirent[], donor: Section): Piece[] | undefined {
  const pieces: Piece[] = []
  const theirs = donor.entries
  let ours = 0
  let their = 0
  let fresh = 0
  while (ours < entries.length) {
    const from = their
    while (ours < entries.length && entries[ours] === theirs[their]) {
      ours++
      their++
    }
    if (their > from) {
      const bytes = donor.bytes.subarray(donor.starts[from], donor.starts[their])
      pieces.push({ bytes, count: their - from, copied: true, from })
    }
    const entry = entries[ours]
    if (!entry) break
    while (their < theirs.length && compareNames((theirs[their] as Dirent).name, entry.name) > 0) their++
    if (entry === theirs[their]) continue
    if (++fresh > MANY_NEW) return undefined
    pieces.push({ bytes: encodeDirent(entry), count: 1, copied: false, from: 0 })
    if (theirs[their]?.name === entry.name) their++
    ours++
  }
  return pieces
}

function encodeDirent(entry: Dirent): Buffer {
  const [name = ''] = escapedNames([entry])
  return Buffer.from(direntJson()(entry, name), 'latin1')
}

/**
 * The names of some entries as they stand in JSON, one character for each byte of UTF-8. So text and bytes
 * have one length, and a section with names in any script is as quickly written as any other.
 */
function escapedNames(entries: readonly Dirent[]): string[] {
  const names = entries.map((entry) => entry.name)
  if (plain.test(names.join('/'))) return names
  const escaped = Buffer.from(names.map(escapeText).join('/')).toString('latin1').split('/')
  if (escaped.length !== names.length) throw new Error('A name in a dir contains a slash.')
  return escaped
}

// Text that needs neither escapes nor more than one byte a character.
const plain = /^[ !#-[\]-~]*$/

/** Makes a writer of dirents, each followed by a separator. Keys in byte order; dirs have no modifier and no size. */
function direntJson(): (entry: Dirent, escapedName: string) => string {
  // What is between id and mtime is mostly the same as in the entry before.
  let last: Dirent | undefined
  let middle = ''
  return (entry, escapedName) => {
    if (entry.kind !== last?.kind || entry.mode !== last.mode || entry.modifier !== last.modifier) {
      const account = Buffer.from(escapeText(entry.modifier)).toString('latin1')
      const modifier = entry.kind === 'file' ? `, "modifier": "${account}"` : ''
      middle = `", "mode": ${entry.mode}${modifier}, "mtime": `
      last = entry
    }
    const common = `{"id": "${entry.id}${middle}${entry.mtime}, "name": "${escapedName}"`
    return entry.kind === 'file' ? `${common}, "size": ${entry.size}}, ` : `${common}}, `
  }
}
