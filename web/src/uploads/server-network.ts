import { api, CarrelError, call, fetchFolder } from '../api/index.ts'
import { contentRange } from './chunks.ts'
import { encoded, formOf } from './form.ts'
import { forgetLink, uploadLink } from './links.ts'
import type { Clock, Network, PostOptions } from './network.ts'
import type { Upload } from './queue.ts'
import { send } from './sending.ts'

export const pageClock: Clock = {
  now: () => Date.now(),
  after(ms, act) {
    const timer = setTimeout(act, ms)
    return () => clearTimeout(timer)
  },
}

/** The server of the page. */
export const serverNetwork: Network = {
  list: (libraryId, path) => orNothing(fetchFolder(libraryId, path).then((folder) => folder.dirent_list)),

  async listBelow(libraryId, path) {
    return (await api.get(`api/v2.1/repos/${libraryId}/dir/`, { p: path, recursive: 1 })).dirent_list
  },

  async storedBytes(libraryId, folder, name) {
    const path = `api/v2.1/repos/${libraryId}/file-uploaded-bytes/` as const
    // A folder that the last chunk will create does not exist yet, so nothing is stored there.
    return (await orNothing(api.get(path, { parent_dir: folder, file_name: name })))?.uploadedBytes ?? 0
  },

  async postFiles(uploads, files, options) {
    const [first] = uploads
    return first === undefined ? [] : namesIn(await post(first, uploads, files, options))
  },

  async postChunk(upload, bytes, chunk, options) {
    const headers = {
      'Content-Range': contentRange(chunk, upload.size),
      'Content-Disposition': `attachment; filename="${encoded(upload.name)}"`,
    }
    return namesIn(await post(upload, [upload], [bytes], options, headers))[0]
  },

  async makeFolders(libraryId, paths) {
    const { failed } = await api.post('api/v2.1/repos/batch-create-dir/', {
      json: { repo_id: libraryId, paths },
    })
    return failed.map(({ error_msg: message }) => message)
  },

  prefetch(libraryId, folder) {
    // Errors surface when it is used.
    uploadLink(libraryId, folder).catch(() => undefined)
  },

  renew: forgetLink,

  async isReachable() {
    try {
      await call('GET', 'api2/ping/')
      return true
    } catch (error) {
      // Any response means it is reachable, except 502 and 504 of a proxy without a backend.
      return error instanceof CarrelError && error.status !== 0 && error.status < 502
    }
  },

  get isOnline() {
    return navigator.onLine
  },

  onOnline(listener) {
    addEventListener('online', () => listener(true))
    addEventListener('offline', () => listener(false))
  },
}

async function post(
  { libraryId, target, folder, replace }: Upload,
  uploads: readonly Upload[],
  files: readonly Blob[],
  options: PostOptions,
  headers: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  const fields = {
    parent_dir: target,
    relative_path: folder,
    replace: replace ? '1' : '0',
    // An earlier attempt may still be stored after this one.
    keep_same: '1',
  }
  const contents = uploads.flatMap(({ name, modified }, index) => {
    const content = files[index]
    return content === undefined ? [] : [{ name, modified, content }]
  })
  return send(await uploadLink(libraryId, target), formOf(fields, contents), { ...options, headers })
}

/** Undefined if it does not exist. */
async function orNothing<T>(asking: Promise<T>): Promise<T | undefined> {
  try {
    return await asking
  } catch (error) {
    if (error instanceof CarrelError && error.status === 404) return undefined
    throw error
  }
}

function namesIn(answer: unknown): (string | undefined)[] {
  return Array.isArray(answer) ? answer.map((one: { name?: string }) => one.name) : []
}
