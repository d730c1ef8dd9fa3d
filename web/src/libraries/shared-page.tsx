import './libraries.css'
import { Inbox } from 'lucide-react'
import { useLibraries, useSharedFiles } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Empty, LoadError, useTitle, Waiting } from '../ui/index.ts'
import { HeldShares } from './held-shares.tsx'
import { LibraryLists } from './library-lists.tsx'
import { SharedFiles } from './shared-files.tsx'

/** Everything that others share with the user, their groups or everyone, in one place. */
export default function SharedPage() {
  const texts = useTexts('libraries')
  useTitle(texts.shared)
  const { data, error, refetch } = useLibraries()
  const { data: files } = useSharedFiles()
  const shared = data?.filter(({ type }) => type !== 'mine')
  return (
    <div className="page">
      <div className="page-head">
        <h1>{texts.shared}</h1>
      </div>
      <HeldShares />
      {shared === undefined &&
        (error ? <LoadError error={error} onRetry={() => void refetch()} /> : <Waiting />)}
      {shared?.length === 0 && files?.length === 0 && (
        <Empty icon={Inbox} title={texts.emptyShared} hint={texts.emptySharedHint} />
      )}
      {shared !== undefined && shared.length > 0 && <LibraryLists libraries={shared} />}
      {files !== undefined && files.length > 0 && <SharedFiles files={files} />}
    </div>
  )
}
