import './sharing.css'
import { Tabs } from 'radix-ui'
import { Suspense, useState } from 'react'
import { canEdit, useAccount, useLibrary } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Dialog, LoadError, TabList, Waiting } from '../ui/index.ts'
import { GroupShares } from './group-shares.tsx'
import { WhoHasAccess } from './lazy.ts'
import { LinksHere } from './links-here.tsx'
import { OthersLinks } from './others-links.tsx'
import { PeopleShares } from './people-shares.tsx'

/** The shared target. A library is its root folder. */
export interface Shared {
  readonly libraryId: string
  readonly path: string
  readonly name: string
  readonly isDir: boolean
}

/** Shares with people, groups and links. Shows only what the user may do. */
export function ShareDialog(props: Shared & { first?: ShareTab; onClose: () => void }) {
  const texts = useTexts('sharing')
  const library = useLibrary(props.libraryId)
  const [beforeName, afterName] = texts.shareTitle.split('{name}')
  return (
    <Dialog
      wide
      onClose={props.onClose}
      title={
        <>
          {beforeName}
          <bdi>{props.name}</bdi>
          {afterName}
        </>
      }
    >
      {library.isPending ? (
        <Waiting />
      ) : library.isError ? (
        <LoadError error={library.error} onRetry={() => void library.refetch()} />
      ) : (
        <Ways {...props} library={library.data} />
      )}
    </Dialog>
  )
}

export type ShareTab = 'access' | 'people' | 'groups' | 'link' | 'upload'

function Ways(
  props: Shared & {
    first?: ShareTab | undefined
    library: NonNullable<ReturnType<typeof useLibrary>['data']>
  },
) {
  const { library, isDir, libraryId, path } = props
  const texts = useTexts('sharing')
  const { data: account } = useAccount()
  const isOwner = account?.email === library.owner_email && !library.is_virtual
  const place = { libraryId, path, ...(!isDir && { isFile: true }) }
  // An encrypted library can only be shared as a whole, and has no links.
  const inside = !library.encrypted || path === '/'
  const manages = isOwner || library.is_admin
  const tabs: ShareTab[] = [
    ...(inside && manages ? (['people', 'groups'] as const) : []),
    ...(library.encrypted ? [] : (['link'] as const)),
    ...(isDir && !library.encrypted && canEdit(library) ? (['upload'] as const) : []),
    ...(manages ? (['access'] as const) : []),
  ]
  const [chosen, setCurrent] = useState(props.first)
  const [first] = tabs
  const current = chosen ?? first
  if (current === undefined) {
    return <p className="muted">{library.encrypted && manages ? texts.encryptedPart : texts.mayNotShare}</p>
  }
  const labels: Record<ShareTab, string> = {
    access: texts.whoHasAccess,
    people: texts.people,
    groups: texts.groups,
    link: texts.link,
    upload: texts.uploadLink,
  }
  return (
    <Tabs.Root className="stack" value={current} onValueChange={(tab) => setCurrent(tab as ShareTab)}>
      <TabList label={texts.tabs} names={tabs} labels={labels} current={current} />
      {library.encrypted && <p className="muted">{texts.encryptedHint}</p>}
      <Tabs.Content value="access" className="stack">
        <Suspense fallback={<Waiting />}>
          <WhoHasAccess libraryId={libraryId} libraryName={library.repo_name} path={path} />
        </Suspense>
      </Tabs.Content>
      <Tabs.Content value="people" className="stack">
        <PeopleShares place={place} owner={library.owner_email} isOwner={isOwner} />
      </Tabs.Content>
      <Tabs.Content value="groups" className="stack">
        <GroupShares place={place} />
      </Tabs.Content>
      <Tabs.Content value="link" className="stack">
        <LinksHere kind="share" place={place} isDir={isDir} mayWrite={canEdit(library)} />
        {manages && <OthersLinks kind="share" place={place} />}
      </Tabs.Content>
      <Tabs.Content value="upload" className="stack">
        <LinksHere kind="upload" place={place} isDir mayWrite />
        {manages && <OthersLinks kind="upload" place={place} />}
      </Tabs.Content>
    </Tabs.Root>
  )
}
