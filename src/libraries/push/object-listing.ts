import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import { fail } from '../../base/errors.ts'
import { Dir, type DirId, EMPTY_ID, encodeFile, type FsId } from '../../base/objects/index.ts'
import { packetHead, zlibStored } from '../../base/packing/index.ts'
import { TimeSlicer } from '../../base/scheduling/index.ts'
import type { Library } from '../library/index.ts'
import { AS_RECEIVED, readFileRow } from '../tree/index.ts'
import type { PushStores } from './push-stores.ts'
import { expectVisible, markVisible } from './sync-visibility.ts'

const deflateAsync = promisify(deflate)

// Smaller objects are not compressed: it saves little and costs more than everything else done for the
// object.
const SMALLEST_PACKED = 1024
/** Limit of the set of listed dirs, which keeps a dir found in many places from being listed twice. */
const MAX_DIRS_REMEMBERED = 200_000
const IDS_AT_ONCE = 1000
const ROWS_AT_ONCE = 100

/**
 * The ids of all dirs and files below `root`, inclusive, except those that `known` has at the same path.
 * Never the empty id. A file may be listed twice. With `dirsOnly`, files are not listed, but visible: the
 * client reads their ids in the dirs, and asks for a file when it is opened.
 */
export async function* listObjects(
  stores: PushStores,
  library: Library,
  root: DirId,
  known: DirId,
  options: { dirsOnly: boolean },
): AsyncGenerator<FsId[], void> {
  for await (const { ids, unlisted } of listBelow(stores, library, root, known, options)) {
    await markVisible(stores, library.info, [...ids, ...unlisted])
    if (ids.length > 0) yield ids
  }
}

async function* listBelow(
  { objects }: PushStores,
  library: Library,
  root: DirId,
  known: DirId,
  options: { dirsOnly: boolean },
): AsyncGenerator<{ ids: FsId[]; unlisted: FsId[] }, void> {
  if (root === known || root === EMPTY_ID) return
  const { key } = library.info
  const seen = new Set<DirId>([root])
  const open: [id: DirId, known: DirId][] = [[root, known]]
  const slicer = new TimeSlicer()
  let ids: FsId[] = []
  let unlisted: FsId[] = []
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [id, knownId] = next
    ids.push(id)
    const { dir } = await objects.getDir(key, id)
    const before = knownId === EMPTY_ID ? Dir.empty : (await objects.getDir(key, knownId)).dir
    for (const entry of dir.entries) {
      if (entry.id === EMPTY_ID) continue
      const old = before.size === 0 ? undefined : before.find(entry.name)
      if (old !== undefined && old.kind === entry.kind && old.id === entry.id) continue
      if (entry.kind === 'file') {
        const to = options.dirsOnly ? unlisted : ids
        to.push(entry.id)
      } else if (!seen.has(entry.id)) {
        if (seen.size < MAX_DIRS_REMEMBERED) seen.add(entry.id)
        open.push([entry.id, old?.kind === 'dir' ? old.id : EMPTY_ID])
      }
      if (ids.length + unlisted.length >= IDS_AT_ONCE) {
        yield { ids, unlisted }
        ids = []
        unlisted = []
      }
    }
    if (slicer.isDue) await slicer.rest()
  }
  if (ids.length + unlisted.length > 0) yield { ids, unlisted }
}

/**
 * Objects as packets in the given order, at least one, until they reach `enough` bytes. Throws object-missing
 * if the library does not hold one.
 */
export async function packObjects(
  stores: PushStores,
  library: Library,
  ids: readonly FsId[],
  enough: number,
): Promise<Buffer> {
  await expectVisible(stores, library.info, ids)
  const pieces: Buffer[] = []
  const slicer = new TimeSlicer()
  let bytes = 0
  for (let start = 0; start < ids.length && bytes < enough; start += ROWS_AT_ONCE) {
    const some = ids.slice(start, start + ROWS_AT_ONCE)
    const files = new Map(
      (await stores.objects.findFileRows(library.info.key, some)).map((row) => [row.id, row]),
    )
    if (library.info.sub !== undefined) {
      const blocks = [...files.values()].flatMap((row) => readFileRow(row).blockIds)
      await markVisible(stores, library.info, blocks)
    }
    for (const id of some) {
      const row = files.get(id)
      const packed =
        row === undefined
          ? await packDirectory(stores, library, id as DirId)
          : row.encoding === AS_RECEIVED
            ? Buffer.from(row.data)
            : await pack(encodeFile(readFileRow(row)))
      pieces.push(packetHead(id, packed.length), packed)
      bytes += packed.length
      if (bytes >= enough) break
      if (slicer.isDue) await slicer.rest()
    }
  }
  return Buffer.concat(pieces)
}

async function packDirectory(stores: PushStores, { info }: Library, id: DirId): Promise<Buffer> {
  const found = id === EMPTY_ID ? undefined : await stores.objects.findDir(info.key, id)
  return found === undefined ? fail({ code: 'object-missing', id }) : pack(found.dir.encoded())
}

async function pack(json: Buffer): Promise<Buffer> {
  return json.length < SMALLEST_PACKED ? zlibStored(json) : deflateAsync(json)
}
