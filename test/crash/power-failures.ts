import path from 'node:path'
import type { FileChange, PowerFailure } from './disk-model.ts'

const SECTOR = 512
const PAGE = 4096

type KeepChanges = (pending: readonly FileChange[], filePath: string) => readonly FileChange[]

const none: KeepChanges = () => []
const all: KeepChanges = (pending) => pending

/** Ways in which the power fails, for one state: the extreme cases, then random mixtures of all. */
export function powerFailures(random: () => number): readonly PowerFailure[] {
  const failure = (name: string, file: KeepChanges, entry: (entryPath: string) => boolean): PowerFailure => ({
    name,
    file: (filePath, pending) => file(pending, filePath),
    entry,
    sharedMemory: () => (random() < 0.5 ? Buffer.alloc(0) : noise(random, 32_768)),
  })
  const yes = () => true
  const no = () => false
  const keptFolders = new Map<string, boolean>()
  const isKept = (folder: string) => {
    const known = keptFolders.get(folder) ?? random() < 0.5
    keptFolders.set(folder, known)
    return known
  }
  const isLog = (file: string) => file.endsWith('-wal')
  const isDatabase = (file: string) => file.endsWith('.db')
  return [
    failure('nothing unsynced is kept', none, no),
    failure('everything is kept', all, yes),
    failure('names are kept, data is lost', none, yes),
    failure('data is kept, names are lost', all, no),
    failure('only the last write of each file is kept', (pending) => pending.slice(-1), yes),
    failure('only the first write of each file is kept', (pending) => pending.slice(0, 1), yes),
    failure('the lengths of files are kept, data is zero', (pending) => pending.map(zeroed), yes),
    failure('the log is kept, the database file lost', (pending, file) => (isLog(file) ? pending : []), yes),
    failure(
      'the database file is kept, the log lost',
      (pending, file) => (isDatabase(file) ? pending : []),
      yes,
    ),
    failure('the last write is torn', (pending) => tearLast(pending, random), yes),
    failure('writes are reversed', (pending) => pending.toReversed(), yes),
    {
      ...failure('data is kept, names in some folders are lost', all, yes),
      entry: (entryPath) => isKept(path.dirname(entryPath)),
    },
    ...[0.2, 0.5, 0.8].map((share) =>
      failure(
        `random, ${share * 100} % are kept`,
        (pending) => anyOf(pending, share, random),
        () => random() < share,
      ),
    ),
    failure(
      'random, torn',
      (pending) => anyOf(pending, 0.7, random).flatMap((change) => torn(change, random)),
      () => random() < 0.7,
    ),
    failure(
      'random, torn, all names are kept',
      (pending) => pending.flatMap((change) => torn(change, random)),
      yes,
    ),
  ]
}

function anyOf(pending: readonly FileChange[], share: number, random: () => number): FileChange[] {
  return pending.filter(() => random() < share)
}

function tearLast(pending: readonly FileChange[], random: () => number): FileChange[] {
  return pending.flatMap((change, index) => (index === pending.length - 1 ? torn(change, random) : [change]))
}

/** Some of the sectors or pages of a write, in their place. */
function torn(change: FileChange, random: () => number): FileChange[] {
  if (change.kind === 'truncate') return random() < 0.5 ? [] : [change]
  const unit = random() < 0.5 ? SECTOR : PAGE
  const share = random()
  const pieces: FileChange[] = []
  const end = change.offset + change.bytes.length
  for (let start = change.offset; start < end; ) {
    const next = Math.min(end, (Math.floor(start / unit) + 1) * unit)
    if (random() < share) {
      const bytes = change.bytes.subarray(start - change.offset, next - change.offset)
      pieces.push({ ...change, offset: start, bytes })
    }
    start = next
  }
  return pieces
}

function zeroed(change: FileChange): FileChange {
  return change.kind === 'write' ? { ...change, bytes: Buffer.alloc(change.bytes.length) } : change
}

function noise(random: () => number, bytes: number): Buffer {
  return Buffer.from(Array.from({ length: bytes }, () => Math.floor(random() * 256)))
}
