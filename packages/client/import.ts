import { realpath, stat } from 'node:fs/promises'
import { ClientError, EXIT, usageError } from './client-error.ts'
import { localFiles, type SourceEvents, type SourceItem } from './local-files.ts'
import { Progress } from './progress.ts'
import { openRclone } from './rclone-source.ts'
import { nameOfRemote, parentOfRemote, requireRemote } from './remote-path.ts'
import { readSecret } from './secret-input.ts'
import { type CommonOptions, runClient, type Session } from './session.ts'
import { note, print, sizeText } from './terminal.ts'
import { TreeUpload } from './upload-tree.ts'
import { WebdavSource } from './webdav-source.ts'

export interface ImportOptions extends CommonOptions {
  readonly parallel?: string
  readonly quiet?: true
  readonly dryRun?: true
  /** Creates the library if there is none of this name. */
  readonly create?: true
}

export interface WebdavImportOptions extends ImportOptions {
  readonly user?: string
}

/** What an import reads. */
interface Source {
  /** Everything, as content of a folder of the library. */
  items(folder: string, events: SourceEvents): AsyncIterable<SourceItem>
}

/** `carrel import dir FOLDER LIBRARY:/path`. */
export function importDir(folder: string, target: string, options: ImportOptions): Promise<number> {
  return runImport(target, options, async (_session, work) => {
    const root = await realpath(folder)
    if (!(await stat(root)).isDirectory()) throw usageError(`${folder} is not a folder.`)
    await work({
      items: (to, events) => localFiles(root, parentOfRemote(to), to === '/' ? '' : nameOfRemote(to), events),
    })
  })
}

/** `carrel import webdav URL LIBRARY:/path`. */
export function importWebdav(url: string, target: string, options: WebdavImportOptions): Promise<number> {
  return runImport(target, options, async ({ signal }, work) => {
    const parsed = URL.parse(url)
    if (parsed === null || !/^https?:$/.test(parsed.protocol)) throw usageError(`"${url}" is not a URL.`)
    if (parsed.password !== '') {
      throw usageError(
        'Do not write the password into the URL: it is asked for, or read from standard input.',
      )
    }
    const user = options.user ?? decodeURIComponent(parsed.username)
    parsed.username = ''
    const login = user === '' ? undefined : { user, password: await readSecret(`Password of ${user}`) }
    await using source = new WebdavSource({ url: parsed, login, signal })
    await work(source)
  })
}

/** `carrel import rclone REMOTE:PATH LIBRARY:/path`. */
export function importRclone(remote: string, target: string, options: ImportOptions): Promise<number> {
  return runImport(target, options, async ({ signal }, work) => {
    if (remote.startsWith('-')) throw usageError(`"${remote}" is not a remote of rclone.`)
    await using rclone = await openRclone(remote, signal)
    await work(rclone.source)
  })
}

/** Copies a source into a library. Files that are there with the same size and time are skipped, so that the same command goes on. */
async function runImport(
  target: string,
  options: ImportOptions,
  withSource: (session: Session, work: (source: Source) => Promise<void>) => Promise<void>,
): Promise<number> {
  return runClient(options, async (session) => {
    const to = requireRemote(target)
    const parallel = Number(options.parallel ?? 4)
    if (!Number.isInteger(parallel) || parallel < 1 || parallel > 64) {
      throw usageError('Give --parallel as a number from 1 to 64.')
    }
    const skipped: { path: string; reason: string }[] = []
    using progress = new Progress({ quiet: options.quiet === true || options.json === true })
    const dryRun = options.dryRun === true
    let upload: TreeUpload | undefined
    await withSource(session, async (source) => {
      const library = await libraryFor(session, to.library, { create: options.create === true, dryRun })
      const work = new TreeUpload(session, library, {
        parallel,
        update: true,
        noClobber: false,
        dryRun,
        progress,
      })
      upload = work
      const events: SourceEvents = {
        signal: session.signal,
        onSkipped(path, reason) {
          skipped.push({ path, reason })
          note(`${path}: skipped, because ${reason}.`)
        },
        onFailed: (path, error) => work.failures.add(path, error),
      }
      await work.runItems(source.items(to.path, events))
    })
    return report(upload, skipped, options)
  })
}

function report(
  upload: TreeUpload | undefined,
  skipped: readonly { readonly path: string; readonly reason: string }[],
  { json, quiet, dryRun }: ImportOptions,
): number {
  const { files, bytes, skipped: present } = upload?.transferred ?? { files: 0, bytes: 0, skipped: 0 }
  const failed = upload?.failures.list ?? []
  const left = failed.length + skipped.length
  const verb = dryRun === true ? 'Would import' : 'Imported'
  const lines = [
    `${verb} ${files} files (${sizeText(bytes)}); ${present} were already there, ${left} were left out.`,
  ]
  print(json === true, { files, bytes, present, skipped, failed }, quiet ? [] : lines)
  return left === 0 ? EXIT.ok : EXIT.partial
}

/** The id of the library, which is created on request. A dry run creates none: undefined. */
async function libraryFor(
  { carrel, libraries, signal }: Session,
  name: string,
  { create, dryRun }: { readonly create: boolean; readonly dryRun: boolean },
): Promise<string | undefined> {
  try {
    return (await libraries.get(name)).id
  } catch (error) {
    if (!create || !(error instanceof ClientError) || error.exitCode !== EXIT.notFound) throw error
    return dryRun ? undefined : carrel.createLibrary(name, { signal })
  }
}
