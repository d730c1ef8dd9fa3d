import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { blocksAt, type Config, formatBlocks, malformed, parseBlocks } from '../../base/config/index.ts'
import { descriptorLimit, foldersKeptOpen } from '../../base/descriptor-limits.ts'
import { StartError } from '../../base/errors.ts'
import { blockRows } from '../../libraries/content/index.ts'
import { listLiveNodes } from '../../platform/cluster/index.ts'
import type { Database, Reader } from '../../platform/database/index.ts'
import {
  explainUnusable,
  openBucket,
  probeBucket,
  S3Refused,
  S3Unavailable,
} from '../../platform/s3/index.ts'
import { openDiskBlockStore } from '../../platform/storage/disk/index.ts'
import { BlockMissing, type BlockStore } from '../../platform/storage/index.ts'
import {
  beginMove,
  bucketMarker,
  type ConfiguredStore,
  claimStore,
  diskMarker,
  endMove,
  identifyStore,
  MigratingBlockStore,
  StoreIdentityError,
} from '../../platform/storage/registry/index.ts'
import { hasObjects, openS3BlockStore, S3BlockStore } from '../../platform/storage/s3/index.ts'
import type { StorageProblem } from './storage-safety.ts'
import { threadsOf } from './stores.ts'

interface OpenBlocksOptions {
  /** Holds the rows of blocks in S3. A reader is enough for a store that is only read. */
  readonly db: Database | Reader
  /** Registers the store as the one of this database. For servers; commands only compare. */
  readonly claim?: Database
  /** Another process may have the store open. */
  readonly shared?: boolean
  /** Another process of this server has the blocks on disk open. In front of S3 each process has a cache of its own. */
  readonly joins?: boolean
  /** Called once when nothing may be acknowledged any more. */
  readonly onFatal?: (error: Error) => void
}

type BlocksSetting = Config['blocks']

/**
 * Opens the block store, together with the other one while blocks are moved. Throws StartError if it is not the one of the database, or cannot be
 * used.
 */
export async function openBlocks(config: Config, options: OpenBlocksOptions): Promise<BlockStore> {
  const { db, claim } = options
  const other = await withStore(config.blocks, async (configured) => {
    const found = await identifyStore(db, configured)
    if (found.own === undefined) {
      await checkUnregistered(config, db)
      if (claim !== undefined) await refuseWithoutBlocks(config, options, configured)
    }
    if (claim !== undefined) await claimStore(claim, configured, unixSeconds())
    return found.other
  })
  const store = await openStore(config, config.blocks, options)
  if (other === undefined) return store
  try {
    // A copy may be running that writes to it.
    const second = await openStore(config, settingAt(config, other.address), { ...options, shared: true })
    return new MigratingBlockStore(store, second)
  } catch (error) {
    await store[Symbol.asyncDispose]()
    throw error
  }
}

/** The address of a block store, as the database records it. */
export function addressOfBlocks(setting: BlocksSetting): string {
  return formatBlocks(setting.kind === 'disk' ? 'disk' : setting.bucket)
}

/** The store in S3 among the opened ones. */
export function findS3Store(blocks: BlockStore): S3BlockStore | undefined {
  const stores: readonly BlockStore[] = blocks instanceof MigratingBlockStore ? blocks.stores : [blocks]
  return stores.find((store) => store instanceof S3BlockStore)
}

/** Blocks that are being moved to the configured store. */
interface OpenMove extends AsyncDisposable {
  readonly from: BlockStore
  readonly to: BlockStore
  /** The addresses, without parameters of S3. */
  readonly fromAddress: string
  readonly toAddress: string
  /** The server that started last writes to the new store. */
  readonly isCurrent: boolean
  /** Addresses of running servers that do not write to the new store. */
  listOtherServers(): Promise<string[]>
  /** Forgets the old store, which must be empty. False if a server writes to it again. */
  end(): Promise<boolean>
}

/** Opens the configured store as the one to which blocks are moved. Undefined if all blocks are in it. Throws StartError. */
export async function openMove(config: Config, db: Database): Promise<OpenMove | undefined> {
  const move = await withStore(config.blocks, (configured) =>
    beginMove(db, configured, { now: unixSeconds(), prepare: () => checkNewStore(config, db) }),
  )
  if (move === undefined) return undefined
  const oldSetting = settingAt(config, move.from.address)
  await using opened = new AsyncDisposableStack()
  const from = opened.use(await openStore(config, oldSetting, { db, shared: true }))
  const to = opened.use(await openStore(config, config.blocks, { db, shared: true }))
  const kept = opened.move()
  return {
    from,
    to,
    fromAddress: move.from.address,
    toAddress: move.to.address,
    isCurrent: move.to.isCurrent,
    listOtherServers: async () => {
      const nodes = await listLiveNodes(db, db.dialect)
      const blocks = addressOfBlocks(config.blocks)
      return nodes.filter((node) => node.blocks !== blocks).map(({ address }) => address)
    },
    end: () => withStore(oldSetting, ({ marker }) => endMove(db, move, marker)),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** A new store must be usable and empty. */
async function checkNewStore(config: Config, db: Database): Promise<void> {
  const { blocks } = config
  const problems = await probeBlocks(config)
  const [problem] = config.unsafeStorage === 'allow' ? [] : problems
  if (problem !== undefined) throw new StartError(`${problem.message}: ${problem.remedy}.`)
  if (blocks.kind === 's3' ? await hasObjects(db) : await hasBlockFile(blocks.directory)) {
    throw new StartError(
      'The new block store is not empty: see what is in it, and empty it or choose another.',
    )
  }
}

function settingAt(config: Config, text: string): BlocksSetting {
  const address = parseBlocks(text)
  if (address === malformed) throw new StartError(`The database names an unknown block store: ${text}.`)
  return blocksAt(address, config.dataDirectory, config.blocks)
}

/** Opens one store, whatever the database says. */
function openStore(
  config: Config,
  setting: BlocksSetting,
  { db, shared = false, joins = false, onFatal }: OpenBlocksOptions,
): Promise<BlockStore> {
  const { directory, implementation, cacheBytes } = setting
  const disk = {
    directory,
    implementation,
    shared: shared || (joins && setting.kind === 'disk'),
    threads: threadsOf(config),
    openFolders: foldersKeptOpen(descriptorLimit()),
    ...(onFatal && { onFatal }),
  }
  if (setting.kind === 'disk') return openDiskBlockStore(disk)
  return openS3BlockStore({ ...disk, settings: setting.bucket, db, cacheBytes, now: unixSeconds })
}

/** Calls `use` with the address and the marker of a store. Throws StartError. */
async function withStore<T>(setting: BlocksSetting, use: (store: ConfiguredStore) => Promise<T>): Promise<T> {
  try {
    const address = addressOfBlocks(setting)
    if (setting.kind === 'disk') return await use({ address, marker: diskMarker(setting.directory) })
    using bucket = await openBucket(setting.bucket)
    return await use({ address, marker: bucketMarker(bucket) })
  } catch (error) {
    throw startErrorOf(error)
  }
}

/** Before stores were registered, blocks of the other kind of store were the only sign that it was in use. */
async function checkUnregistered({ blocks, dataDirectory }: Config, db: Reader): Promise<void> {
  const isInS3 = await hasObjects(db)
  if (blocks.kind === 'disk' && isInS3) {
    throw new StartError('The blocks of this database are in S3: set CARREL_BLOCKS to their s3:// address.')
  }
  const directory = path.join(dataDirectory, 'blocks')
  if (blocks.kind === 's3' && !isInS3 && (await hasBlockFile(directory))) {
    throw new StartError(
      `The blocks of this server are in ${directory}: start it once with CARREL_BLOCKS set to disk, then move them with carrel migrate.`,
    )
  }
}

/** Blocks that are looked for in a store before it becomes that of a database. */
const SAMPLE = 20

/**
 * A store that has none of the blocks of the database is another one: an empty folder where a disk should be mounted, or the wrong bucket. Once it were registered, the
 * right one would be refused.
 */
async function refuseWithoutBlocks(
  config: Config,
  options: OpenBlocksOptions,
  { address, marker }: ConfiguredStore,
): Promise<void> {
  if ((await marker.read()) !== undefined) return
  const known = await blockRows.sampleStored(options.db, SAMPLE)
  if (known.length === 0) return
  await using store = await openStore(config, config.blocks, { ...options, shared: true })
  for (const id of known) {
    try {
      await store.size(id, { stored: true })
      return
    } catch (error) {
      if (!(error instanceof BlockMissing)) throw error
    }
  }
  const place = config.blocks.kind === 'disk' ? config.blocks.directory : address.replace(/\?.*$/, '')
  const others =
    config.blocks.kind === 'disk'
      ? 'that CARREL_DATA is right and its disk is mounted'
      : 'that CARREL_BLOCKS is right'
  throw new StartError(
    `No block of this database is in ${place}, of ${known.length} that were looked for: see ${others}, and start again. If the blocks are lost for good, write a line of your own to ${marker.place}, start again, and run carrel repair.`,
  )
}

/** Whether a folder holds blocks on disk. */
async function hasBlockFile(directory: string): Promise<boolean> {
  const folders = await readdir(directory, { withFileTypes: true }).catch(() => [])
  for (const folder of folders) {
    if (!folder.isDirectory() || !/^[0-9a-f]{2}$/.test(folder.name)) continue
    if ((await readdir(path.join(directory, folder.name))).length > 0) return true
  }
  return false
}

/** Tries out a block store in S3 before it is used. Throws StartError if it cannot be. */
export async function probeBlocks({ blocks }: Config): Promise<StorageProblem[]> {
  if (blocks.kind === 'disk') return []
  using bucket = await openBucket(blocks.bucket)
  try {
    if ((await probeBucket(bucket)).rejectsWrongBytes) return []
  } catch (error) {
    throw startErrorOf(error)
  }
  return [
    {
      kind: 'unsafe',
      message: `${bucket.place} accepts objects whose bytes do not match their signed hash, so blocks could be damaged on their way`,
      remedy: 'use a service that verifies the payload of signed requests',
    },
  ]
}

function startErrorOf(error: unknown): unknown {
  if (error instanceof StoreIdentityError) return new StartError(error.message, { cause: error })
  if (!(error instanceof S3Refused || error instanceof S3Unavailable)) return error
  return new StartError(
    `The blocks cannot be stored: ${error.message} Check CARREL_BLOCKS and the AWS credentials: ${explainUnusable(error)}.`,
    { cause: error },
  )
}

function unixSeconds(): number {
  return Math.floor(Date.now() / 1000)
}
