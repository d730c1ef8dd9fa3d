import type { DescribedSurface } from '../../platform/openapi/index.ts'
import { apiRoutes } from '../../surfaces/api/index.ts'
import { downloadRoutes, uploadRoutes } from '../../surfaces/transfer/index.ts'

/** What the API description describes. */
export const describedSurfaces: readonly DescribedSurface[] = [
  { routes: apiRoutes, errorForm: 'api' },
  { routes: uploadRoutes, errorForm: 'upload' },
  { routes: downloadRoutes, errorForm: 'text' },
]

let text: Promise<string> | undefined

/** The API description. Made of the routes when it is asked for first, because few servers are asked for it. */
export function apiDescription(): Promise<string> {
  text ??= import('../../platform/openapi/index.ts').then(({ descriptionText }) =>
    descriptionText(describedSurfaces),
  )
  return text
}
