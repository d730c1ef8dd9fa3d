import './sharing.css'
import { Dices } from 'lucide-react'
import type { LinkKind, LinkRights } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { Button, CheckField, PasswordField, SelectField, TextField } from '../ui/index.ts'

export type RightsName = 'download' | 'view' | 'upload'
export type Until = 'never' | '1' | '7' | '30' | 'date'

/** What is filled in when a link is made or changed. */
export interface LinkDraft {
  readonly rights: RightsName
  readonly secured: boolean
  readonly password: string
  readonly until: Until
  /** As `<input type="date">` has it. */
  readonly date: string
  readonly description: string
}

export const newDraft: LinkDraft = {
  rights: 'download',
  secured: false,
  password: '',
  until: 'never',
  date: '',
  description: '',
}

export const rightsNamed: Record<RightsName, LinkRights> = {
  download: { can_edit: false, can_download: true, can_upload: false },
  view: { can_edit: false, can_download: false, can_upload: false },
  upload: { can_edit: false, can_download: true, can_upload: true },
}

export function nameOfRights(rights: LinkRights | undefined): RightsName {
  if (rights?.can_upload) return 'upload'
  return rights?.can_download === false ? 'view' : 'download'
}

const DAY_MS = 86_400_000
// No signs that look alike: it may have to be typed from paper.
const SIGNS = 'abcdefghjkmnpqrstuvwxyz23456789'
const PASSWORD_LENGTH = 14

export function makePassword(): string {
  const random = crypto.getRandomValues(new Uint32Array(PASSWORD_LENGTH))
  return Array.from(random, (number) => SIGNS[number % SIGNS.length]).join('')
}

/** When the link ends, as ISO; empty for never. A date ends with its day. */
export function endOf({ until, date }: Pick<LinkDraft, 'until' | 'date'>): string {
  if (until === 'never') return ''
  if (until === 'date') return new Date(`${date}T23:59:59`).toISOString()
  return new Date(Date.now() + Number(until) * DAY_MS).toISOString()
}

export const isComplete = ({ secured, password, until, date }: LinkDraft) =>
  !(secured && password === '') && !(until === 'date' && date === '')

/** The day of a moment here, as `<input type="date">` wants it. */
export function dayOf(moment: Date): string {
  const two = (value: number) => String(value).padStart(2, '0')
  return `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`
}

export function LinkFields(props: {
  kind: LinkKind
  isDir: boolean
  mayWrite: boolean
  draft: LinkDraft
  onChange: (draft: LinkDraft) => void
  /** Of a link that is there: its password stays as it is. */
  withoutPassword?: boolean
}) {
  const { draft, kind } = props
  const texts = useTexts('sharing')
  const common = useTexts('common')
  const set = (change: Partial<LinkDraft>) => props.onChange({ ...draft, ...change })
  const rights: readonly RightsName[] =
    props.isDir && props.mayWrite ? ['download', 'view', 'upload'] : ['download', 'view']
  return (
    <>
      <div className="sharing-pair">
        {kind === 'share' && (
          <SelectField
            label={texts.rights}
            value={draft.rights}
            onChange={(event) => set({ rights: event.target.value as RightsName })}
          >
            {rights.map((one) => (
              <option key={one} value={one}>
                {texts.rightsNames[one]}
              </option>
            ))}
          </SelectField>
        )}
        <SelectField
          label={texts.ends}
          value={draft.until}
          onChange={(event) => set({ until: event.target.value as Until })}
        >
          <option value="never">{texts.endsNever}</option>
          <option value="1">{texts.endsInDays(1)}</option>
          <option value="7">{texts.endsInDays(7)}</option>
          <option value="30">{texts.endsInDays(30)}</option>
          <option value="date">{texts.endsOnDate}</option>
        </SelectField>
        {draft.until === 'date' && (
          <TextField
            type="date"
            label={texts.endsOn}
            required
            min={dayOf(new Date())}
            value={draft.date}
            onChange={(event) => set({ date: event.target.value })}
          />
        )}
      </div>
      {!props.withoutPassword && (
        <CheckField
          label={texts.withPassword}
          checked={draft.secured}
          onChange={(event) =>
            set({ secured: event.target.checked, password: draft.password || makePassword() })
          }
        />
      )}
      {draft.secured && !props.withoutPassword && (
        <div className="sharing-password">
          <PasswordField
            label={common.password}
            value={draft.password}
            onChange={(event) => set({ password: event.target.value })}
          />
          <Button icon={Dices} onClick={() => set({ password: makePassword() })}>
            {texts.generate}
          </Button>
        </div>
      )}
      <TextField
        label={texts.note}
        hint={kind === 'upload' ? texts.uploadNoteHint : texts.noteHint}
        maxLength={500}
        value={draft.description}
        onChange={(event) => set({ description: event.target.value })}
      />
    </>
  )
}
