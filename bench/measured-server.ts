import type { Client } from '../test/support/client.ts'
import type { LongUpload, Load as TargetLoad } from './http-target.ts'
import type { LoadResult } from './load/plan.ts'
import type { RequestShape } from './load/request-text.ts'
import type { StreamResult } from './load/stream-plan.ts'
import type { Usage } from './usage.ts'

type Request = Omit<RequestShape, 'apiToken'> & { readonly anonymous?: true }

/** A load as scenarios describe it; the server adds its address and the API token. */
export type Load = Omit<TargetLoad, 'request'> & { readonly request: Request | readonly Request[] }

/** With the CPU time and memory of the server, if it was started by the bench. */
export type Used<Result> = Result & { readonly usage?: Usage }

/** A server that is used over HTTP only: one that the bench started, or one at an address. All methods throw LoadError for another status. */
export interface MeasuredServer {
  readonly client: Client
  /** On another machine, perhaps: its limits are not those of this one. */
  readonly isRemote: boolean
  load(load: Load): Promise<Used<LoadResult>>
  /** Sends large bodies concurrently. */
  upload(uploads: readonly LongUpload[], status?: number): Promise<Used<StreamResult>>
  /** Reads large responses concurrently. */
  download(paths: readonly string[]): Promise<Used<StreamResult>>
}

/** The load with the API token in all requests that are not anonymous. */
export function withToken({ request, ...load }: Load, apiToken: string | undefined): TargetLoad {
  const requests = ('path' in request ? [request] : request).map(({ anonymous, ...shape }) =>
    anonymous || apiToken === undefined ? shape : { ...shape, apiToken },
  )
  return { ...load, request: requests }
}
