import type { Config } from '../../base/config/index.ts'
import { openDatabase } from '../../platform/database/index.ts'
import { type CopyReport, copyBlocks, emptyStore, isEmpty } from '../../platform/storage/registry/index.ts'
import { openMove } from '../assembly/index.ts'
import { checkSchema } from './accounts.ts'
import { CommandError } from './command-error.ts'
import { lowerPriority } from './low-priority.ts'
import { print, sizeText } from './output.ts'

interface MigrateOptions {
  readonly json: boolean
  /** Deletes what the old store has, once a server writes to the new one. */
  readonly deleteOld: boolean
}

/** Some blocks of the old store are damaged or lost. The others were copied. */
const INCOMPLETE = 1
const PROGRESS_MS = 5000

/**
 * Copies blocks to the configured store, beside a running server or without one. It continues where an earlier run ended. Resolves to the exit
 * code: 1 if blocks could not be copied.
 */
export async function migrateBlocks(config: Config, { json, deleteOld }: MigrateOptions): Promise<number> {
  await checkSchema(config)
  lowerPriority()
  const now = () => Math.floor(Date.now() / 1000)
  await using opened = new AsyncDisposableStack()
  const db = opened.use(await openDatabase(config.database, { now, onFatal: stopAtOnce }))
  const move = await openMove(config, db)
  if (move === undefined) {
    const lines = ['All blocks are in this store, and there is no other one.']
    print(json, { blocks: 0, copied: 0, copiedBytes: 0, damaged: [], deletedBytes: 0, done: true }, lines)
    return 0
  }
  opened.use(move)
  const { from, to, fromAddress, toAddress } = move
  if (deleteOld && !move.isCurrent) {
    throw new CommandError(
      `The server still writes to ${fromAddress}: set CARREL_BLOCKS to ${toAddress}, start it again, and run this command again.`,
    )
  }
  const others = deleteOld ? await move.listOtherServers() : []
  if (others.length > 0) {
    throw new CommandError(
      `Servers still run that do not write to ${toAddress} (${others.join(', ')}): start them again with this setting, and run this command again.`,
    )
  }
  const stopping = new AbortController()
  const stop = () => stopping.abort(new CommandError('Stopped; the next run continues.'))
  process.once('SIGINT', stop).once('SIGTERM', stop)
  const copy = { from, to, signal: stopping.signal, onProgress: progress(json) }
  if (!deleteOld) {
    const report = await copyBlocks(copy)
    print(json, { ...report, deletedBytes: 0, done: false }, [
      ...linesOf(report),
      move.isCurrent
        ? `The server writes to ${toAddress}. Delete the old blocks with carrel migrate --delete-old.`
        : `Set CARREL_BLOCKS to ${toAddress} and start the server again. It reads what was not copied from the old store. Then run carrel migrate --delete-old.`,
    ])
    return report.damaged.length > 0 ? INCOMPLETE : 0
  }
  const { report, deletedBytes } = await emptyStore(copy)
  const done = (await isEmpty(from)) && (await move.end())
  print(json, { ...report, deletedBytes, done }, [
    ...linesOf(report),
    `Deleted ${sizeText(deletedBytes)} of ${fromAddress}.`,
    done
      ? `All blocks are in ${toAddress}.`
      : 'Some blocks are still in the old store, which stays in use: run carrel check, and then this command again.',
  ])
  return done ? 0 : INCOMPLETE
}

function linesOf({ blocks, copied, copiedBytes, damaged }: CopyReport): string[] {
  return [
    `Copied ${copied} of ${blocks} blocks, ${sizeText(copiedBytes)}.`,
    ...damaged.map((id) => `The block ${id} is damaged in the old store: run carrel repair.`),
  ]
}

/** Prints how far a copy is, every few seconds. */
function progress(json: boolean): (report: CopyReport) => void {
  let printedAt = performance.now()
  return ({ blocks, copied, copiedBytes }) => {
    if (json || performance.now() - printedAt < PROGRESS_MS) return
    printedAt = performance.now()
    process.stderr.write(`${blocks} blocks compared, ${copied} copied, ${sizeText(copiedBytes)}.\n`)
  }
}

function stopAtOnce(error: Error): never {
  process.stderr.write(`The change could not be saved (${error.message}): see that the disk is sound.\n`)
  process.exit(1)
}
