import { Redirect, useParams } from 'wouter'
import { useLinkTarget } from '../api/index.ts'
import { fileUrl, folderUrl } from '../navigation/index.ts'
import { normalizePath } from '../paths.ts'
import { LoadError, Waiting } from '../ui/index.ts'

/** Redirects to the current target of a smart link. */
export default function SmartLinkPage() {
  const { token } = useParams<{ token: string }>()
  const { data, error, refetch } = useLinkTarget(token)
  if (data !== undefined) {
    const address = data.is_dir ? folderUrl : fileUrl
    return <Redirect to={address(data.repo_id, normalizePath(data.path))} replace />
  }
  return error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />
}
