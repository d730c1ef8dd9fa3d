import { createHash, type Hash } from 'node:crypto'
import { compareNames, comparesNatively } from '../paths/index.ts'
import type { Slices } from '../scheduling/index.ts'
import { escapeText } from './canonical.ts'
import { type Dirent, indexOf } from './dirent.ts'
import { sha1Hex } from './ids.ts'

/** A run of entries and its part of the JSON. */
interface Section {
  readonly entries: readonly Dirent[]
  readonly bytes: Buffer
  /** Entry i is bytes[starts[i]] up to bytes[starts[i + 1]], with the separator that follows it. */
  readonly starts: Uint32Array
}

/** Hash state after the first `sections` sections. */
interface HashState {
  readonly sections: number
  readonly hash: Hash
}

const head = Buffer.from('{"dirents": [')
const tail = Buffer.from('], "type": 3, "version": 1}')
const separator = ', '

// Smaller sections take more native calls, larger ones more copying for each change.
const SECTION_ENTRIES = 64
const MAX_SECTION_ENTRIES = 2 * SECTION_ENTRIES
/** With more new entries a section is encoded from scratch, because the copied runs would be short. */
const MAX_NEW_ENTRIES = 16

// Copying a hash state takes as long as hashing half a section. It is saved where versions differ, because the next version often
// differs there too, and at intervals.
const MIN_SECTIONS_BETWEEN_STATES = 4
const MAX_SECTIONS_BETWEEN_STATES = 32

/** Sections encoded or hashed between two cooperative yields. */
const SECTIONS_PER_SLICE = 16

/**
 * The canonical JSON of a dir, in sections. Versions of a dir share equal sections and the hash state before the first difference,
 * so that encoding a new version of a large folder takes little time and memory.
 */
export class EncodedDirents {
  readonly #sections: readonly Section[]
  /** Number of leading sections shared with the previous version. */
  readonly #shared: number
  /** Shortest first. */
  #states: readonly HashState[]

  private constructor(sections: readonly Section[], shared: number, states: readonly HashState[]) {
    this.#sections = sections
    this.#shared = shared
    this.#states = states
  }

  static *of(entries: readonly Dirent[]): Slices<EncodedDirents> {
    return new EncodedDirents(yield* encodeSections(entries), 0, [])
  }

  /** The encoding of `entries`, which differ from the entries encoded here only at `names`. */
  *splice(entries: readonly Dirent[], names: readonly string[]): Slices<EncodedDirents> {
    if (this.#sections.length === 0) return yield* EncodedDirents.of(entries)
    const differing = new Set(names.map((name) => this.#sectionOf(name)))
    const sections: Section[] = []
    let from = 0
    for (const [index, section] of this.#sections.entries()) {
      if (!differing.has(index)) {
        sections.push(section)
        from += section.entries.length
        continue
      }
      const next = this.#sections[index + 1]?.entries[0]
      const end = next === undefined ? entries.length : indexOf(entries, next.name, from)
      if (end - from > MAX_SECTION_ENTRIES)
        sections.push(...(yield* encodeSections(entries.slice(from, end))))
      else if (end > from) sections.push(spliceSection(entries.slice(from, end), section))
      from = end
    }
    const shared = Math.min(...differing)
    const states = this.#states.filter((one) => one.sections <= shared)
    return new EncodedDirents(sections, shared, states)
  }

  /** The JSON as a whole. */
  join(): Buffer {
    const pieces = this.#sections.map((_, index) => this.#piece(index))
    return Buffer.concat([head, ...pieces, tail])
  }

  /** The hash of the JSON. */
  *hash(): Slices<string> {
    const count = this.#sections.length
    if (count <= 1) return sha1Hex(this.join())
    // A state after what is now the last section would include a separator that the JSON does not have.
    const states = this.#states.filter((one) => one.sections < count)
    const last = states.at(-1)
    const hash = last === undefined ? createHash('sha1').update(head) : last.hash.copy()
    let saved = last?.sections ?? 0
    for (let index = saved; index < count; index++) {
      const far = index - saved
      if (
        far >= MAX_SECTIONS_BETWEEN_STATES ||
        (index === this.#shared && far >= MIN_SECTIONS_BETWEEN_STATES)
      ) {
        states.push({ sections: index, hash: hash.copy() })
        saved = index
      }
      hash.update(this.#piece(index))
      if (index % SECTIONS_PER_SLICE === SECTIONS_PER_SLICE - 1) yield
    }
    this.#states = states
    return hash.update(tail).digest('hex')
  }

  /** The bytes of a section. The last one has no trailing separator. */
  #piece(index: number): Buffer {
    const { bytes } = this.#sections[index] as Section
    return index < this.#sections.length - 1 ? bytes : bytes.subarray(0, -separator.length)
  }

  /** The section that has the entry with this name, or would have it. */
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

function* encodeSections(entries: readonly Dirent[]): Slices<Section[]> {
  const sections: Section[] = []
  for (let from = 0; from < entries.length; from += SECTION_ENTRIES) {
    sections.push(encodeSection(entries.slice(from, from + SECTION_ENTRIES)))
    if (sections.length % SECTIONS_PER_SLICE === 0) yield
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
  // Not from the buffer pool, because a cached dir would retain a whole slab of it.
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

/** A run of entries copied from the donor, or one newly encoded entry. */
interface Piece {
  readonly bytes: Uint8Array
  readonly count: number
  readonly copied: boolean
  /** Index of the first entry of the run in the donor. */
  readonly from: number
}

/** Undefined if too many entries are new. */
function findPieces(entries: readonly Dirent[], donor: Section): Piece[] | undefined {
  const pieces: Piece[] = []
  const donorEntries = donor.entries
  let index = 0
  let donorIndex = 0
  let newCount = 0
  while (index < entries.length) {
    const from = donorIndex
    while (index < entries.length && entries[index] === donorEntries[donorIndex]) {
      index++
      donorIndex++
    }
    if (donorIndex > from) {
      const bytes = donor.bytes.subarray(donor.starts[from], donor.starts[donorIndex])
      pieces.push({ bytes, count: donorIndex - from, copied: true, from })
    }
    const entry = entries[index]
    if (!entry) break
    while (
      donorIndex < donorEntries.length &&
      compareNames((donorEntries[donorIndex] as Dirent).name, entry.name) > 0
    )
      donorIndex++
    if (entry === donorEntries[donorIndex]) continue
    if (++newCount > MAX_NEW_ENTRIES) return undefined
    pieces.push({ bytes: encodeDirent(entry), count: 1, copied: false, from: 0 })
    if (donorEntries[donorIndex]?.name === entry.name) donorIndex++
    index++
  }
  return pieces
}

function encodeDirent(entry: Dirent): Buffer {
  const [name = ''] = escapedNames([entry])
  return Buffer.from(direntJson()(entry, name), 'latin1')
}

/**
 * The JSON-escaped names of entries, with one character per byte of UTF-8. Text and bytes then have the same length, and the
 * fast latin1 conversion works for names in any script.
 */
function escapedNames(entries: readonly Dirent[]): string[] {
  const names = entries.map((entry) => entry.name)
  if (plain.test(names.join('/'))) return names
  const escaped = Buffer.from(names.map(escapeText).join('/')).toString('latin1').split('/')
  if (escaped.length !== names.length) throw new Error('A name in a dir contains a slash.')
  return escaped
}

// Text without escapes and with one byte per character.
const plain = /^[ !#-[\]-~]*$/

/** Returns an encoder of dirents that appends a separator to each. Keys are in byte order; dirs have no modifier and size. */
function direntJson(): (entry: Dirent, escapedName: string) => string {
  // The text between id and mtime is usually the same as in the previous entry, so it is reused.
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
