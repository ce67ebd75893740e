/// Operating-system processes that must never outlive the program that started them.
@NullMarked
package io.pushplanet.quickstart.process;

import org.jspecify.annotations.NullMarked;
