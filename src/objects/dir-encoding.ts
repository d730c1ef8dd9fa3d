import { escapeText } from './canonical.ts'
import type { Dirent } from './dirent.ts'
import { compareNames } from './names.ts'

/** The canonical JSON of a dir, and where in it each entry is. */
export interface EncodedDirents {
  readonly entries: readonly Dirent[]
  readonly bytes: Buffer
  /** Entry i is bytes[starts[i]] up to bytes[starts[i + 1] - 2]: two bytes of separator follow each entry. */
  readonly starts: Uint32Array
}

const head = '{"dirents": ['
const tail = '], "type": 3, "version": 1}'
const separator = ', '

// Entries are turned into bytes this many at a time: one call into native code for each
// is slow, and so is one string of megabytes.
const GROUP = 32

export function encodeDirents(entries: readonly Dirent[]): EncodedDirents {
  const starts = new Uint32Array(entries.length + 1)
  const json = direntJson()
  let bytes: Buffer = Buffer.alloc(0)
  let at = head.length
  for (let first = 0; first < entries.length; first += GROUP) {
    const group = entries.slice(first, first + GROUP)
    const names = escapedNames(group)
    let text = ''
    for (let i = 0; i < group.length; i++) {
      starts[first + i] = at + text.length
      text += json(group[i] as Dirent, names[i] as string)
    }
    if (at + text.length + tail.length > bytes.length) {
      // The entries to come are expected to be like those of this group, and a little longer.
      const expected = ((entries.length - first) / group.length) * text.length
      bytes = enlarge(bytes, at + Math.ceil(1.06 * expected) + tail.length)
    }
    at += bytes.write(text, at, 'latin1')
  }
  starts[entries.length] = at
  return { entries, bytes: finish(bytes, entries.length > 0 ? at - separator.length : at), starts }
}

/**
 * The names of some entries as they stand in JSON, one character for each byte of UTF-8. So text and bytes
 * have one length, and a group with names in any script is as quickly written as any other.
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

// Not from the pool: a cached dir must not keep a slab of strangers alive.
function enlarge(bytes: Buffer, length: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(length)
  larger.set(bytes)
  return larger
}

/** Puts head and tail around the entries. Dirs stay in memory for long, so unused room is worth a copy. */
function finish(bytes: Buffer, at: number): Buffer {
  const used = at + tail.length
  const whole =
    bytes.length < used || bytes.length - used > used / 8 ? enlarge(bytes.subarray(0, used), used) : bytes
  whole.write(head, 0, 'latin1')
  whole.write(tail, at, 'latin1')
  return whole.subarray(0, used)
}

/** The encoding of `entries`, with the bytes of every entry that `donor` also has copied from there. */
export function spliceDirents(entries: readonly Dirent[], donor: EncodedDirents): EncodedDirents {
  const pieces = findPieces(entries, donor)
  let length = head.length + tail.length + separator.length * Math.max(pieces.length - 1, 0)
  for (const piece of pieces) length += piece.bytes.length
  const bytes = Buffer.allocUnsafeSlow(length)
  const starts = new Uint32Array(entries.length + 1)
  let at = bytes.write(head, 0, 'latin1')
  let entry = 0
  for (const piece of pieces) {
    if (entry > 0) at += bytes.write(separator, at, 'latin1')
    bytes.set(piece.bytes, at)
    const shift = at - (donor.starts[piece.from] as number)
    for (let i = 0; i < piece.count; i++) {
      starts[entry + i] = piece.copied ? (donor.starts[piece.from + i] as number) + shift : at
    }
    entry += piece.count
    at += piece.bytes.length
  }
  starts[entries.length] = at + separator.length
  bytes.write(tail, at, 'latin1')
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

function findPieces(entries: readonly Dirent[], donor: EncodedDirents): Piece[] {
  const pieces: Piece[] = []
  const theirs = donor.entries
  let ours = 0
  let their = 0
  while (ours < entries.length) {
    const from = their
    while (ours < entries.length && entries[ours] === theirs[their]) {
      ours++
      their++
    }
    if (their > from) {
      const end = (donor.starts[their] as number) - separator.length
      const bytes = donor.bytes.subarray(donor.starts[from], end)
      pieces.push({ bytes, count: their - from, copied: true, from })
    }
    const entry = entries[ours]
    if (!entry) break
    while (their < theirs.length && compareNames((theirs[their] as Dirent).name, entry.name) > 0) their++
    if (entry === theirs[their]) continue
    pieces.push({ bytes: encodeDirent(entry), count: 1, copied: false, from: 0 })
    if (theirs[their]?.name === entry.name) their++
    ours++
  }
  return pieces
}

function encodeDirent(entry: Dirent): Buffer {
  const [name = ''] = escapedNames([entry])
  return Buffer.from(direntJson()(entry, name).slice(0, -separator.length), 'latin1')
}
