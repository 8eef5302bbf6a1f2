/**
 * An application and its proxy in one container, for tests that need many pods. The container must not run as the
 * proxy's user, because that user's connections are not redirected.
 */
import './app.ts';
import './proxy.ts';
