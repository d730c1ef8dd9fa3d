import { HttpClient } from '../../packages/conformance/client.ts'
import { bodyOf } from '../../packages/conformance/stage.ts'

export type { CallOptions, Params, Reply } from '../../packages/conformance/client.ts'

/** The HTTP client of the conformance kit, with sign-in. */
export class Client extends HttpClient {
  constructor(url: string, token?: string, email = '') {
    super({ url, token, email })
  }

  static async signIn(url: string, email: string, password: string): Promise<Client> {
    const form = { username: email, password }
    return new Client(url, bodyOf(await new Client(url).post('/api2/auth-token/', { form })).token, email)
  }
}
