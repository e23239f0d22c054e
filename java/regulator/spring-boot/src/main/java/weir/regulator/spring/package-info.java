/** The regulator in a Spring Boot application. */
package weir.regulator.spring;
