import type { FileRequest } from '../api/index.ts'
import { dayOf, expiryOf } from './link-draft.ts'

/** The values of the form for a file request. */
export interface RequestDraft {
  readonly heading: string
  readonly name: FileRequest['name']
  readonly message: boolean
  /** One file a line. */
  readonly files: string
  /** Format of `<input type="date">`. Empty for none. */
  readonly deadline: string
  readonly folders: boolean
}

export const newRequest: RequestDraft = {
  heading: '',
  name: 'required',
  message: false,
  files: '',
  deadline: '',
  folders: false,
}

export const MOST_FILES = 50

const linesOf = (files: string): string[] =>
  files
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean)

/** Whether the list of files is one that the server takes. */
export const isListTooLong = ({ files }: RequestDraft) =>
  linesOf(files).length > MOST_FILES || linesOf(files).some((line) => line.length > 200)

/** A request as it is sent. The deadline that it had is kept to the second if its day is. */
export function requestOf(draft: RequestDraft, before?: FileRequest | null): FileRequest {
  const { heading, name, message, files, deadline, folders } = draft
  const isSameDay = before?.deadline ? dayOf(new Date(before.deadline)) === deadline : false
  const end = deadline === '' ? '' : expiryOf({ until: 'date', date: deadline })
  return {
    heading: heading.trim(),
    name,
    message,
    files: linesOf(files),
    deadline: isSameDay ? (before?.deadline ?? '') : end,
    folder_by_name: folders && name === 'required',
  }
}

export function requestDraftOf(request: FileRequest): RequestDraft {
  return {
    heading: request.heading,
    name: request.name,
    message: request.message,
    files: request.files.join('\n'),
    deadline: request.deadline === '' ? '' : dayOf(new Date(request.deadline)),
    folders: request.folder_by_name,
  }
}
