import { Type } from 'typebox'
import { json, kinds, operation } from '../../openapi/index.ts'

/** What clients ask first. */
export const serverSchemas = [
  operation('GET /api2/ping/', { 200: json(Type.Literal('pong'), 'The server responds.') }),
  operation('GET /api2/auth/ping/', { 200: json(Type.Literal('pong'), 'The token is valid.') }),
  operation('GET /api2/server-info/', {
    200: json(
      kinds.record('ServerInfo', {
        version: kinds.text('The version of the API, by which clients select their calls.'),
        encrypted_library_version: kinds.integer('The encryption version of new libraries.'),
        features: Type.Array(kinds.text(), { description: 'Names of features.' }),
      }),
      'The server.',
    ),
  }),
]
