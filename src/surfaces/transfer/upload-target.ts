import { fail } from '../../base/errors.ts'
import { joinPath, type LibraryPath, parseName, parsePath, ROOT } from '../../base/paths/index.ts'
import type { HttpRequest } from '../../platform/http/index.ts'
import { type FormTexts, lastSegment } from './upload-form.ts'
import type { UploadSession } from './upload-session.ts'
import { uploadError } from './upload-wire.ts'

/** The text parts of an upload. */
export const uploadTexts: ReadonlySet<string> = new Set([
  'parent_dir',
  'relative_path',
  'replace',
  'keep_same',
  'last_modify',
])

/** The target of an upload. */
export interface FoundTarget {
  /** The folder the ticket is bound to; of a link's ticket, whatever `parent_dir` says. */
  readonly parent: LibraryPath
  /** Below the parent; created if missing. */
  readonly into: LibraryPath
  readonly replace: boolean
  /** Whether a file that the folder has already is left alone. */
  readonly keepSame: boolean
}

/**
 * Resolves the target of a form. Checks in the order clients rely on: files, replace, parent_dir,
 * relative_path, number of files, existence, permission. Throws refusals, path-not-found, permission-denied.
 */
async function findTarget(
  session: UploadSession,
  texts: FormTexts,
  files: number,
  mayReplace: boolean,
): Promise<FoundTarget> {
  const { library, range, request } = session
  if (files === 0) throw uploadError(400, 'No file uploaded.')
  const replace = mayReplace && readReplace(texts, request)
  // Upload-only permission must not replace files.
  if (replace && library.actor.scope?.access === 'upload') fail({ code: 'permission-denied' })
  const parentText = texts.get('parent_dir')?.replaceAll('\\', '/')
  if (!parentText || (range !== undefined && !parentText.startsWith('/'))) {
    throw uploadError(400, 'Invalid parent dir.')
  }
  const into = folderOf(session.sender?.folder ?? ROOT, readRelativePath(texts))
  if (range !== undefined && files > 1) throw uploadError(400, 'More files in one request.')
  const sent = parsePath(parentText)
  if (sent === undefined) return fail({ code: 'path-not-found', path: parentText, wanted: 'Folder' })
  // Errors must not reveal to link visitors where in the library their folder is.
  const parent = session.isOfLink ? session.ticketPath : sent
  const folder = await library.tree.findDir(parent)
  if (folder === undefined) fail({ code: 'path-not-found', path: parentText, wanted: 'Folder' })
  if (parent !== session.ticketPath) fail({ code: 'permission-denied' })
  library.editable(parent)
  return { parent, into, replace, keepSame: texts.get('keep_same') === '1' }
}

/** The target of an upload, resolved once from the text parts known so far. */
export class UploadTarget {
  readonly #session: UploadSession
  readonly #mayReplace: boolean
  #found: { readonly target: FoundTarget; readonly texts: FormTexts } | undefined

  constructor(session: UploadSession, mayReplace: boolean) {
    this.#session = session
    this.#mayReplace = mayReplace
  }

  /** Called when a file starts, to reject it before its bytes are received. Throws as findTarget. */
  async refuseEarly(texts: FormTexts, filename: string): Promise<void> {
    if (!texts.has('parent_dir')) return
    await this.find(texts, 1)
    nameOf(filename)
  }

  /** As findTarget. */
  async find(texts: FormTexts, files: number): Promise<FoundTarget> {
    const known = this.#found
    const isCounted = files === 0 || this.#session.range !== undefined
    if (known !== undefined && !isCounted && isSame(known.texts, texts)) return known.target
    const target = await findTarget(this.#session, texts, files, this.#mayReplace)
    this.#found = { target, texts: new Map(texts) }
    return target
  }

  /** The path of a file by the text parts known so far; undefined if they do not say. Called after `refuseEarly`. */
  pathOf(filename: string): LibraryPath | undefined {
    if (this.#found === undefined) return undefined
    const { parent, into } = this.#found.target
    return joinPath(folderOf(parent, into), checkedName(filename))
  }

  /** Whether a file at the path is replaced, by the text parts known so far. */
  get replaces(): boolean {
    return this.#found?.target.replace === true
  }
}

/** Whether the texts name the same target. The time of a file, which may differ for each, is not part of it. */
function isSame(some: FormTexts, others: FormTexts): boolean {
  for (const name of uploadTexts) {
    if (name !== 'last_modify' && some.get(name) !== others.get(name)) return false
  }
  return true
}

/** The name in a file name as sent. Throws name-invalid. */
export function checkedName(filename: string): string {
  return ownText(nameOf(filename))
}

function nameOf(filename: string): string {
  const name = lastSegment(filename)
  return parseName(name) ?? fail({ code: 'name-invalid', name })
}

// Copied: a substring is slow to compare and keeps the whole text in memory.
function ownText(text: string): string {
  return Buffer.from(text).toString()
}

/** The folder the files end up in. */
export function folderOf(parent: LibraryPath, into: LibraryPath): LibraryPath {
  if (into === ROOT) return parent
  return parent === ROOT ? into : ((parent + into) as LibraryPath)
}

function readReplace(texts: FormTexts, request: HttpRequest): boolean {
  const sent = [texts.get('replace'), request.queryFields.text('replace')].filter(Boolean)
  if (!sent.every((text) => text === '0' || text === '1')) throw uploadError(400, 'Invalid argument replace.')
  return sent.includes('1')
}

function readRelativePath(texts: FormTexts): LibraryPath {
  const text = texts.get('relative_path')?.replaceAll('\\', '/') ?? ''
  const path = text.startsWith('/') ? undefined : parsePath(text)
  if (path === undefined) throw uploadError(400, 'Invalid relative path.')
  return path
}
