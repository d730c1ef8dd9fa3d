import { route } from '../services.ts'

// Three whole numbers, in a range that clients know: they choose what to call, and how, by it.
const compatibleVersion = '11.0.13'

export const serverInfoRoutes = [
  route({
    method: 'GET',
    path: '/api2/server-info/',
    auth: 'none',
    summary: 'The version of the API and what the server can do.',
    handle: () => ({
      version: compatibleVersion,
      encrypted_library_version: 2,
      // The second makes desktop clients ask for locks and for permissions of folders.
      features: ['seafile-basic', 'seafile-pro'],
    }),
  }),
]
