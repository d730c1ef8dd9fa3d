import theme from 'vitepress/theme-without-fonts'
// From where the build copies this file to. It writes the colors of the web app there.
import '../../../../web/src/ui/fonts.css'
import './colors.css'
import './style.css'

export default theme
