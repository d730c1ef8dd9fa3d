import { queryOptions, useQuery } from '@tanstack/react-query'
import { CarrelError, errorForStatus, type Records, type ResponseOf } from '../../../sdk/src/index.ts'
import { nameOf, parentOf } from '../paths.ts'
import { rebaseUrl } from '../site-url.ts'
import { visitedLink } from '../visited-link.ts'
import { type Folder, fetchFolder, fileLink, folderIn } from './entries.ts'
import { api, call, postForm } from './http.ts'
import { retryWhileBusy } from './retry.ts'
import { openVisitedFile } from './visited.ts'

/** A file as it is now, or as of a commit. */
export interface FileState {
  readonly libraryId: string
  readonly path: string
  /** The id of the content. */
  readonly id: string
  readonly commitId?: string | undefined
}

// Download links expire after an hour.
const LINK_FRESH_MS = 40 * 60_000

/** A folder as it is now, or as of a commit, which never changes. */
export function useFolderAt(libraryId: string, path: string, commitId?: string) {
  return useQuery<Folder>({
    queryKey: commitId === undefined ? ['dir', libraryId, path] : ['dir-then', libraryId, path, commitId],
    queryFn: ({ signal }) =>
      commitId === undefined
        ? fetchFolder(libraryId, path, signal)
        : fetchFolderThen(libraryId, path, commitId, signal),
    ...(commitId !== undefined && { staleTime: Number.POSITIVE_INFINITY }),
  })
}

async function fetchFolderThen(
  libraryId: string,
  path: string,
  commitId: string,
  signal: AbortSignal,
): Promise<Folder> {
  const query = { p: path, commit_id: commitId }
  return folderIn(await api.get(`api/v2.1/repos/${libraryId}/dir/`, query, signal))
}

/** Download URL of a file. One per content id, so that the browser cache is used. */
export function linkQuery({ libraryId, path, id, commitId }: FileState) {
  return queryOptions({
    queryKey: ['file-link', libraryId, path, id, commitId ?? ''],
    queryFn: () => fileLink(libraryId, path, { ...(commitId !== undefined && { commitId }) }),
    staleTime: LINK_FRESH_MS,
    gcTime: LINK_FRESH_MS,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
}

/** The largest SVG that is shown, in bytes. */
const LARGEST_DRAWING = 8 * 2 ** 20

/**
 * An SVG as a `data:` URL. The server never sends SVG as an image, because it could run scripts in our origin. An `img`
 * with a `data:` URL runs none.
 */
export function drawingQuery(file: FileState) {
  const { queryKey } = linkQuery(file)
  return queryOptions({
    queryKey: ['drawing', ...queryKey],
    queryFn: async ({ signal }) => {
      const { link } = await openFile(file, signal)
      return dataUrl(new Blob([await fetchBytes(link, LARGEST_DRAWING, signal)], { type: 'image/svg+xml' }))
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
}

function dataUrl(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    // A data URL is a string.
    reader.addEventListener('load', () => resolve(reader.result as string))
    reader.addEventListener('error', () => reject(reader.error ?? new Error('the drawing could not be read')))
    reader.readAsDataURL(blob)
  })
}

/** Like `linkQuery`, with the content id of the link, which may be newer than the listing. */
export async function openFile(
  { libraryId, path, id, commitId }: FileState,
  signal?: AbortSignal,
): Promise<{ link: string; id: string }> {
  if (visitedLink !== undefined) return { link: await openVisitedFile(visitedLink, path, signal), id }
  const query = { p: path, reuse: 1, commit_id: commitId }
  const response = await call('GET', `api2/repos/${libraryId}/file/`, { query, signal })
  const link: unknown = await response.json()
  if (typeof link !== 'string') throw errorForStatus(500, 'the server sent no link')
  return { link: rebaseUrl(link), id: response.headers.get('oid') ?? '' }
}

/** Fetches the first `most` bytes of a file. */
export async function fetchBytes(
  link: string,
  most: number,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer>> {
  const response = await fetch(link, {
    headers: { Range: `bytes=0-${most - 1}` },
    credentials: 'omit',
    ...(signal && { signal }),
  })
  // A range of an empty file is not satisfiable.
  if (response.status === 416) return new Uint8Array()
  if (!response.ok) throw errorForStatus(response.status, await response.text())
  return new Uint8Array(await response.arrayBuffer())
}

export function fetchDocumentText({ libraryId, path, commitId }: FileState, signal?: AbortSignal) {
  const query = { p: path, commit_id: commitId }
  const path21 = `api/v2.1/repos/${libraryId}/file/text/` as const
  return retryWhileBusy(() => api.get(path21, query, signal), signal)
}

/** A file at the head: the commit id, and the content id if the file exists. */
export async function fileNow(
  libraryId: string,
  path: string,
): Promise<{ head: string; id: string | undefined }> {
  const { head_commit_id: head } = await api.get(`api2/repos/${libraryId}/`)
  try {
    const query = { p: path, commit_id: head }
    const file = await api.get(`api/v2.1/repos/${libraryId}/file/`, query)
    return { head, id: file.obj_id }
  } catch (error) {
    if (error instanceof CarrelError && error.status === 404) return { head, id: undefined }
    throw error
  }
}

type FileDetail = Records['FileDetail']

export function fetchFileDetail(libraryId: string, path: string, signal?: AbortSignal): Promise<FileDetail> {
  return api.get(`api2/repos/${libraryId}/file/detail/`, { p: path }, signal)
}

/** A stored file. Its name differs from the requested one if that was taken. */
type Stored = Records['UploadItem']

/**
 * Replaces the content of a file, based on the commit `head`. After a concurrent change the server keeps both, and
 * the response has the name of the conflict copy.
 */
export async function replaceContent(
  libraryId: string,
  path: string,
  content: Blob,
  head: string,
): Promise<Stored> {
  const query = { p: parentOf(path), from: 'web' }
  const link = await api.get(`api2/repos/${libraryId}/update-link/`, query)
  const body = new FormData()
  body.append('target_file', path)
  body.append('file', content, nameOf(path))
  return sendForm(link, body, { head })
}

/** Adds a file to a folder. The server numbers the name if it is taken. */
export async function addFile(libraryId: string, path: string, content: Blob): Promise<Stored> {
  const folder = parentOf(path)
  const query = { p: folder, from: 'web' }
  const link = await api.get(`api2/repos/${libraryId}/upload-link/`, query)
  const body = new FormData()
  body.append('parent_dir', folder)
  body.append('file', content, nameOf(path))
  return sendForm(link, body, { 'ret-json': '1' })
}

async function sendForm(
  link: string,
  body: FormData,
  query: Readonly<Record<string, string>>,
): Promise<Stored> {
  const response = await postForm(rebaseUrl(link), query, body)
  const answer = (await response.json()) as ResponseOf<'POST', `seafhttp/upload-aj/${string}`>
  const [stored] = 'success' in answer ? [] : answer
  if (stored === undefined) throw errorForStatus(500, '')
  return stored
}
