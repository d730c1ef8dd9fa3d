import { Client } from '../test/support/client.ts'
import { HttpPlans, type LongUpload } from './http-target.ts'
import type { LoadResult } from './load/plan.ts'
import { runLoad } from './load/run-load.ts'
import { runStreams } from './load/run-streams.ts'
import type { StreamResult } from './load/stream-plan.ts'
import { type Load, type MeasuredServer, withToken } from './measured-server.ts'
import type { MixTarget } from './mix.ts'

/** A server that runs already. The libraries that were created through its client are deleted at the end. */
export class RemoteServer implements MeasuredServer, AsyncDisposable {
  readonly isRemote = true
  readonly client: CleaningClient
  readonly #plans: HttpPlans

  constructor({ url, apiToken }: MixTarget) {
    this.client = new CleaningClient(url, apiToken)
    this.#plans = new HttpPlans(url)
  }

  load(load: Load): Promise<LoadResult> {
    return runLoad(this.#plans.load(withToken(load, this.client.token)))
  }

  upload(uploads: readonly LongUpload[], status = 200): Promise<StreamResult> {
    return runStreams(this.#plans.upload(uploads, status))
  }

  download(paths: readonly string[]): Promise<StreamResult> {
    return runStreams(this.#plans.download(paths, {}))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.deleteLibraries()
  }
}

class CleaningClient extends Client {
  readonly #created: string[] = []

  override async createLibrary(name = 'library'): Promise<string> {
    const id = await super.createLibrary(`Bench ${name}`)
    this.#created.push(id)
    return id
  }

  async deleteLibraries(): Promise<void> {
    for (const id of this.#created) await this.delete(`/api2/repos/${id}/`)
  }
}
