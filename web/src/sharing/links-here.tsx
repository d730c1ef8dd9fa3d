import { Plus } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { createLink, type LinkKind, type LinkPlace, useLinks } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, LoadError, useAction, Waiting } from '../ui/index.ts'
import { LinkCard } from './link-card.tsx'
import { expiryOf, isComplete, newDraft, rightsNamed } from './link-draft.ts'
import { LinkFields } from './link-fields.tsx'
import { requestOf } from './request-draft.ts'

/** The user's links to one file or folder, and a form for a new one. */
export function LinksHere(props: { kind: LinkKind; place: LinkPlace; isDir: boolean; mayWrite: boolean }) {
  const { kind, place } = props
  const texts = useTexts('sharing')
  const links = useLinks(kind, place)
  const [adding, setAdding] = useState(false)
  if (links.isPending) return <Waiting />
  if (links.isError) return <LoadError error={links.error} onRetry={() => void links.refetch()} />
  // The server returns the existing upload link of a folder while it is usable.
  const mayAdd = kind === 'share' || !links.data.some(({ is_active, is_expired }) => is_active && !is_expired)
  const showsForm = adding || links.data.length === 0
  return (
    <>
      <p className="muted">{kind === 'share' ? texts.linkHint : texts.uploadHint}</p>
      <ul className="sharing-cards">
        {links.data.map((link) => (
          <LinkCard
            key={link.token}
            kind={kind}
            link={link}
            isDir={props.isDir}
            mayWrite={props.mayWrite}
            open
          />
        ))}
      </ul>
      {showsForm ? (
        <NewLink
          {...props}
          onMade={() => setAdding(false)}
          {...(links.data.length > 0 && { onCancel: () => setAdding(false) })}
        />
      ) : (
        mayAdd && (
          <Button className="sharing-another" icon={Plus} onClick={() => setAdding(true)}>
            {texts.anotherLink}
          </Button>
        )
      )}
    </>
  )
}

function NewLink(props: {
  kind: LinkKind
  place: LinkPlace
  isDir: boolean
  mayWrite: boolean
  onMade: () => void
  onCancel?: () => void
}) {
  const { kind, place } = props
  const texts = useTexts('sharing')
  const common = useTexts('common')
  const act = useAction('links', 'shares')
  const [draft, setDraft] = useState(newDraft)
  const [busy, setBusy] = useState(false)
  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault()
    setBusy(true)
    const made = await act(() =>
      createLink(kind, place, {
        password: draft.secured ? draft.password : undefined,
        expires: expiryOf(draft),
        description: draft.description.trim(),
        permissions: rightsNamed[draft.rights],
        request: draft.asks ? requestOf(draft.request) : undefined,
      }),
    )
    setBusy(false)
    if (!made) return
    setDraft(newDraft)
    props.onMade()
  }
  return (
    <form className="sharing-new stack" onSubmit={(event) => void submit(event)}>
      <LinkFields
        kind={kind}
        isDir={props.isDir}
        mayWrite={props.mayWrite}
        draft={draft}
        onChange={setDraft}
      />
      <div className="dialog-buttons">
        {props.onCancel && <Button onClick={props.onCancel}>{common.cancel}</Button>}
        <Button type="submit" variant="primary" busy={busy} disabled={!isComplete(draft)}>
          {kind === 'share' ? texts.makeLink : texts.makeUploadLink}
        </Button>
      </div>
    </form>
  )
}
