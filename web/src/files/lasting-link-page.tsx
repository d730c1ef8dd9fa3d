import { Redirect, useParams } from 'wouter'
import { fileAddress, folderAddress } from '../addresses.ts'
import { useLinkTarget } from '../api/entry-details.ts'
import { cleaned } from '../paths.ts'
import { Failed } from '../ui/failed.tsx'
import { Waiting } from '../ui/states.tsx'

/** Goes on to where a lasting link leads now. */
export default function LastingLinkPage() {
  const { token } = useParams<{ token: string }>()
  const { data, error, refetch } = useLinkTarget(token)
  if (data !== undefined) {
    const address = data.is_dir ? folderAddress : fileAddress
    return <Redirect to={address(data.repo_id, cleaned(data.path))} replace />
  }
  return error ? <Failed error={error} onRetry={() => void refetch()} /> : <Waiting />
}
