import { type HttpResponse, jsonTextResponse } from '../http/index.ts'
import type { Placed } from '../library/index.ts'

/** A stored file as upload answers name it. */
export interface UploadItem {
  readonly name: string
  readonly id: string
  /** Bytes. */
  readonly size: number
}

export function uploadItem({ entry }: Placed): UploadItem {
  return { name: entry.name, id: entry.id, size: entry.kind === 'file' ? entry.size : 0 }
}

/** As in `[{"name": "a.txt", "id": "9b1d…", "size": 14}]`. */
export function uploadItemsText(items: readonly UploadItem[]): string {
  return JSON.stringify(items.map(({ name, id, size }) => ({ name, id, size })))
}

/** The ids alone. Not JSON, but labelled so: that is what clients have always been sent. */
export function idsAnswer(items: readonly UploadItem[]): HttpResponse {
  return jsonTextResponse(items.map((item) => item.id).join('\t'))
}

/** A chunk was taken and more are to come. */
export function chunkTaken(): HttpResponse {
  return jsonTextResponse('{"success": true}')
}
