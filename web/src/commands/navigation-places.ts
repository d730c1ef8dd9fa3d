import {
  Activity,
  Clock,
  House,
  Images,
  Inbox,
  Library,
  type LucideIcon,
  Share2,
  Shield,
  Star,
  Trash2,
  Users,
} from 'lucide-react'
import { useAccount } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'

/** A page that the side menu and the palette lead to. */
export interface NavigationPlace {
  readonly to: string
  readonly icon: LucideIcon
  readonly label: string
  /** Further addresses that belong to it. */
  readonly within?: readonly string[]
}

/** The pages of the app that the user may open, in the order of the side menu: before and after the libraries. */
export function useNavigationPlaces() {
  const texts = useTexts('shell')
  const photos = useTexts('photos')
  const { data: account } = useAccount()
  const home: NavigationPlace = { to: '/home', icon: House, label: texts.homePage }
  const shared: NavigationPlace = { to: '/shared', icon: Inbox, label: texts.sharedWithMe }
  const libraries: NavigationPlace = {
    to: '/',
    icon: Library,
    label: texts.libraries,
    within: ['/view', '/history', '/trash/', '/tags/'],
  }
  const first: readonly NavigationPlace[] = [
    home,
    { to: '/recent', icon: Clock, label: texts.recent },
    { to: '/photos', icon: Images, label: photos.title },
    shared,
    { to: '/starred', icon: Star, label: texts.starred },
    { to: '/trash', icon: Trash2, label: texts.trash, within: ['/deleted'] },
  ]
  const last: readonly NavigationPlace[] = [
    { to: '/links', icon: Share2, label: texts.sharing },
    { to: '/activity', icon: Activity, label: texts.activity },
    { to: '/groups', icon: Users, label: texts.groups },
    ...(account?.is_staff ? [{ to: '/admin', icon: Shield, label: texts.administration }] : []),
  ]
  return { home, shared, libraries, first, last }
}
