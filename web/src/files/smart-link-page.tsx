import { Redirect, useParams } from 'wouter'
import { CarrelError, useLinkTarget } from '../api/index.ts'
import { fileUrl, folderUrl } from '../navigation/index.ts'
import { normalizePath } from '../paths.ts'
import { LoadError, NotFound, Waiting } from '../ui/index.ts'

/** Redirects to the current target of a smart link. */
export default function SmartLinkPage() {
  const { token } = useParams<{ token: string }>()
  const { data, error, refetch } = useLinkTarget(token)
  if (data !== undefined) {
    const address = data.is_dir ? folderUrl : fileUrl
    return <Redirect to={address(data.repo_id, normalizePath(data.path))} replace />
  }
  // The API answers 400 to an unknown token, as existing clients expect.
  if (error instanceof CarrelError && error.status === 400) return <NotFound />
  return error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />
}
