/**
 * An application and its proxy in one container, where a test needs many pods. The container must not run as the
 * proxy's user: what that sends is not redirected.
 */
import './app.ts';
import './proxy.ts';
