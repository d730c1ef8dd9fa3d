import { createHash } from 'node:crypto'
import { escapeText } from './canonical.ts'
import type { Dirent } from './dirent.ts'
import { sha1Hex } from './ids.ts'
import { compareNames } from './names.ts'
import { indexOf } from './sorted-entries.ts'

/**
 * The canonical JSON of a dir, in sections. Versions of a dir share the sections in which they do not differ, so that one
 * more version of a big folder takes little time to write down, and little memory.
 */
export type EncodedDirents = readonly Section[]

/** Some entries in a row, as they stand in the JSON. */
interface Section {
  readonly entries: readonly Dirent[]
  readonly bytes: Buffer
  /** Entry i is bytes[starts[i]] up to bytes[starts[i + 1]], with the separator that follows it. */
  readonly starts: Uint32Array
}

const head = Buffer.from('{"dirents": [')
const tail = Buffer.from('], "type": 3, "version": 1}')
const separator = ', '

// Fewer would be more calls into native code, more would be more to copy for one change.
const SECTION_ENTRIES = 64
const MOST_SECTION_ENTRIES = 2 * SECTION_ENTRIES
/** With so many new entries a section is written anew: runs would be short. */
const MANY_NEW = 16

export function encodeDirents(entries: readonly Dirent[]): EncodedDirents {
  const sections: Section[] = []
  for (let from = 0; from < entries.length; from += SECTION_ENTRIES) {
    sections.push(encodeSection(entries.slice(from, from + SECTION_ENTRIES)))
  }
  return sections
}

/** The encoding of `entries`, with all that `donor` also has taken from there. */
export function spliceDirents(entries: readonly Dirent[], donor: EncodedDirents): EncodedDirents {
  const sections: Section[] = []
  let from = 0
  for (const [index, theirs] of donor.entries()) {
    const next = donor[index + 1]?.entries[0]
    const after = from + theirs.entries.length
    if (entries[after] === next && isSame(entries, from, theirs.entries)) {
      sections.push(theirs)
      from = after
      continue
    }
    const end = next === undefined ? entries.length : indexOf(entries, next.name, from)
    if (end - from > MOST_SECTION_ENTRIES) sections.push(...encodeDirents(entries.slice(from, end)))
    else if (end > from) sections.push(spliceSection(entries.slice(from, end), theirs))
    from = end
  }
  return donor.length === 0 ? encodeDirents(entries) : sections
}

/** The JSON as a whole. */
export function joinDirents(sections: EncodedDirents): Buffer {
  return Buffer.concat([...piecesOf(sections)])
}

/** The hash of the JSON. */
export function hashDirents(sections: EncodedDirents): string {
  if (sections.length <= 1) return sha1Hex(joinDirents(sections))
  const hash = createHash('sha1')
  for (const piece of piecesOf(sections)) hash.update(piece)
  return hash.digest('hex')
}

function* piecesOf(sections: EncodedDirents): Generator<Buffer> {
  yield head
  for (const [index, { bytes }] of sections.entries()) {
    yield index < sections.length - 1 ? bytes : bytes.subarray(0, -separator.length)
  }
  yield tail
}

function isSame(entries: readonly Dirent[], from: number, theirs: readonly Dirent[]): boolean {
  for (let i = 0; i < theirs.length; i++) if (entries[from + i] !== theirs[i]) return false
  return true
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
