import { parseOutsideJson } from '../../../base/json.ts'
import { joinPath, parseName, ROOT } from '../../../base/paths/index.ts'
import { accepting, type Reader, refuse } from '../../../platform/input/index.ts'
import { errorMessage } from '../../../platform/responses/index.ts'
import type { Link, TicketUse } from '../../../sharing/access/index.ts'
import { parseTime } from '../common/parse-values.ts'
import { isoTime } from '../common/wire-formats.ts'

type FileRequest = NonNullable<Link['request']>
type Sender = NonNullable<TicketUse['sender']>

export const askings = ['no', 'optional', 'required'] as const
const LONGEST_HEADING = 200
const MOST_FILES = 50
const LONGEST_FILE = 200
const LONGEST_NAME = 100
const LONGEST_MESSAGE = 2000

/** What an upload link asks: an object, or its JSON as text. Null, if an empty text was sent. */
export const fileRequest: Reader<FileRequest | null | undefined> = accepting(
  {
    type: 'object',
    description:
      'What the link asks of its visitors: an object of `heading`, `name` (`no`, `optional` or `required`), `message` and `folder_by_name` (flags), `files` (a list of texts) and `deadline` (in ISO 8601), or its JSON text. Empty: nothing.',
  },
  (fields, name) => {
    const sent = fields.raw(name)
    if (sent === undefined || sent === null) return undefined
    if (sent === '') return null
    const object = typeof sent === 'string' ? parseJson(sent, name) : sent
    if (typeof object !== 'object' || object === null || Array.isArray(object)) return refuse(name)
    return requestOf(object as Record<string, unknown>)
  },
)

function requestOf(sent: Record<string, unknown>): FileRequest {
  const { heading = '', name = 'no', message = false, files = [], deadline = '' } = sent
  const { folder_by_name: folders = false } = sent
  if (!isLine(heading, LONGEST_HEADING)) return refuse('heading')
  const asked = askings.find((word) => word === name) ?? refuse('name')
  if (typeof message !== 'boolean') return refuse('message')
  if (!Array.isArray(files) || files.length > MOST_FILES) return refuse('files')
  if (!files.every((file): file is string => isLine(file, LONGEST_FILE))) return refuse('files')
  if (typeof folders !== 'boolean') return refuse('folder_by_name')
  // A folder with the name of a visitor needs one.
  if (folders && asked !== 'required') return refuse('folder_by_name')
  return {
    heading: heading.trim(),
    name: asked,
    message,
    files: files.map((file) => file.trim()).filter(Boolean),
    deadline: deadlineOf(deadline),
    folders,
  }
}

function deadlineOf(sent: unknown): number | undefined {
  if (sent === '' || sent === null) return undefined
  return (typeof sent === 'string' ? parseTime(sent) : undefined) ?? refuse('deadline')
}

/** A text in one line. */
function isLine(sent: unknown, longest: number): sent is string {
  return typeof sent === 'string' && sent.length <= longest && !/[\p{Cc}\p{Cs}]/u.test(sent)
}

function parseJson(sent: string, name: string): unknown {
  try {
    return parseOutsideJson(sent)
  } catch {
    return refuse(name)
  }
}

export function requestToWire(request: FileRequest | undefined) {
  if (request === undefined) return null
  const { heading, name, message, files, deadline, folders } = request
  return {
    heading,
    name,
    message,
    files,
    deadline: deadline === undefined ? '' : isoTime(deadline),
    folder_by_name: folders,
  }
}

/** How a visitor introduces themself, as far as the link asks. Refuses a visitor without a name if it is required. */
export function senderOf(
  request: FileRequest | undefined,
  sent: { readonly name: string; readonly message: string },
): Sender | undefined {
  if (request === undefined) return undefined
  const name = request.name === 'no' ? '' : sent.name.trim().replace(/\s+/g, ' ')
  const message = request.message ? sent.message.trim() : ''
  if (!isLine(name, LONGEST_NAME)) return refuse('name')
  if (request.name === 'required' && name === '') throw errorMessage(400, 'name is required.')
  if (message.length > LONGEST_MESSAGE || /[^\P{Cc}\n\r\t]|\p{Cs}/u.test(message)) return refuse('message')
  const folder = request.folders ? folderNamed(name) : ROOT
  return name === '' && message === '' ? undefined : { name, message, folder }
}

/** What cannot be in the name of a folder becomes a hyphen. */
function folderNamed(name: string) {
  const folder = parseName(name.replace(/[/\\:*?"<>|]/g, '-').replace(/^\.+|[. ]+$/g, ''))
  return joinPath(ROOT, folder ?? refuse('name'))
}
