import { route } from '../services.ts'

// Three integers. Clients select the calls they make by this version.
const compatibleVersion = '11.0.13'

export const serverInfoRoutes = [
  route({
    method: 'GET',
    path: '/api2/server-info/',
    auth: 'none',
    summary: 'Returns the API version and the features of the server.',
    handle: () => ({
      version: compatibleVersion,
      encrypted_library_version: 2,
      // Clients show what is announced here and hide the rest. `seafile-pro` makes desktop clients request locks, folder permissions and activities;
      // desktop and phone clients then search only if there is `file-search`. The last one is ours: clients sign in by a code.
      features: ['seafile-basic', 'seafile-pro', 'file-search', 'device-authorization'],
    }),
  }),
]
